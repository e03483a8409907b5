import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { bodyOf, type Message } from "../../src/notify/receiver.ts";

const BROKE: Message = {
  id: "msg_1",
  type: "project.broke",
  timestamp: "2026-03-11T02:20:00.123Z",
  data: {
    summary: "pip broke: html of latest failed: <!here> & *no* _such_ `branch` [x](http://x)",
    project_slug: "pip",
    version_slug: "latest",
    type: "html",
    build_id: "1210",
    error_class: "vcs",
    error_line: "long",
  },
};
const BARE: Message = { ...BROKE, type: "test", data: {} };

/** The part of Slack's reference of messages and blocks that we use. */
const SLACK = {
  type: "object",
  required: ["text", "blocks"],
  additionalProperties: false,
  properties: {
    text: { type: "string", minLength: 1, maxLength: 40_000 },
    blocks: {
      type: "array",
      maxItems: 50,
      items: {
        oneOf: [
          {
            type: "object",
            required: ["type", "text"],
            additionalProperties: false,
            properties: { type: { const: "section" }, text: { $ref: "#/definitions/text" } },
          },
          {
            type: "object",
            required: ["type", "elements"],
            additionalProperties: false,
            properties: {
              type: { const: "context" },
              elements: { type: "array", minItems: 1, maxItems: 10, items: { $ref: "#/definitions/text" } },
            },
          },
        ],
      },
    },
  },
  definitions: {
    text: {
      type: "object",
      required: ["type", "text"],
      additionalProperties: false,
      properties: { type: { const: "mrkdwn" }, text: { type: "string", minLength: 1, maxLength: 3000 } },
    },
  },
};

/** The part of adaptive cards, and of the message around one, that we use. */
const TEAMS = {
  type: "object",
  required: ["type", "attachments"],
  additionalProperties: false,
  properties: {
    type: { const: "message" },
    attachments: {
      type: "array",
      minItems: 1,
      maxItems: 1,
      items: {
        type: "object",
        required: ["contentType", "contentUrl", "content"],
        additionalProperties: false,
        properties: {
          contentType: { const: "application/vnd.microsoft.card.adaptive" },
          contentUrl: { type: "null" },
          content: {
            type: "object",
            required: ["$schema", "type", "version", "body"],
            additionalProperties: false,
            properties: {
              $schema: { type: "string" },
              type: { const: "AdaptiveCard" },
              version: { enum: ["1.0", "1.1", "1.2", "1.3", "1.4"] },
              body: {
                type: "array",
                minItems: 1,
                items: {
                  oneOf: [
                    {
                      type: "object",
                      required: ["type", "text"],
                      additionalProperties: false,
                      properties: {
                        type: { const: "TextBlock" },
                        text: { type: "string", minLength: 1 },
                        wrap: { type: "boolean" },
                      },
                    },
                    {
                      type: "object",
                      required: ["type", "facts"],
                      additionalProperties: false,
                      properties: {
                        type: { const: "FactSet" },
                        facts: {
                          type: "array",
                          items: {
                            type: "object",
                            required: ["title", "value"],
                            additionalProperties: false,
                            properties: { title: { type: "string" }, value: { type: "string" } },
                          },
                        },
                      },
                    },
                  ],
                },
              },
            },
          },
        },
      },
    },
  },
};

describe("a notice", () => {
  it.each([
    ["slack", SLACK],
    ["teams", TEAMS],
  ] as const)("has the documented shape of %s, also without a sentence", (format, schema) => {
    const validate = new Ajv({ allErrors: true, strict: true }).compile(schema);
    const long = { ...BROKE, data: { ...BROKE.data, summary: "x<".repeat(500) } };
    for (const message of [BROKE, BARE, long]) {
      validate(JSON.parse(bodyOf(message, format)));
      expect(validate.errors).toBeNull();
    }
  });

  it("says in slack what it is about, and no text of upstream calls anybody or is formatted", () => {
    const { text, blocks } = JSON.parse(bodyOf(BROKE, "slack"));
    const summary =
      "pip broke: html of latest failed: &lt;!here&gt; &amp; *no* _such_ `branch` [x](http://x)";
    expect(text.replaceAll("\u200b", "")).toBe(summary);
    expect(text).toContain("*\u200bno*\u200b");
    expect(blocks[1].elements[0].text).toBe(
      "*project* pip   *version* latest   *type* html   *build* 1210   *cause* vcs   *noted* 2026-03-11T02:20:00Z",
    );
  });

  it("says in teams what it is about, without formatting", () => {
    const [{ content }] = JSON.parse(bodyOf(BROKE, "teams")).attachments;
    expect(content.body[0].text).toContain("`\u200bbranch`\u200b [\u200bx]\u200b(http://x)");
    expect(content.body[1].facts).toContainEqual({ title: "project", value: "pip" });
  });

  it("has its type where it has no sentence", () => {
    expect(JSON.parse(bodyOf(BARE, "slack")).text).toBe("test");
  });
});
