import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { readProxies } from "../../src/base/config/proxies.ts";
import { bodyOf, createReceiver, type Message, type ReceiverOptions } from "../../src/notify/receiver.ts";
import { freePort } from "../support/free-port.ts";
import { PLANTED_SECRET } from "../support/planted-secret.ts";
import { startProxy } from "../support/proxy.ts";
import {
  type Respond,
  SECRET_PATH,
  startWebhookReceiver,
  WEBHOOK_KEY,
  type WebhookReceiver,
} from "../support/webhook-receiver.ts";

const MESSAGE = {
  id: "msg_1",
  type: "test",
  timestamp: "2026-01-02T03:04:05.678Z",
  data: { summary: 'Ünï ❤ "quoted" \\ and a\u2028line.' },
} as const;
const never = new AbortController().signal;

async function sendTo(
  { url }: Pick<WebhookReceiver, "url">,
  options: Partial<ReceiverOptions> = {},
  signal = options.timeoutMs ? AbortSignal.timeout(30_000) : never,
) {
  const usual = { url, key: WEBHOOK_KEY, format: "standard", clock: systemClock } as const;
  const receiver = createReceiver({ ...usual, ...options });
  try {
    return await receiver.send(MESSAGE, signal);
  } finally {
    await receiver.close();
    await receiver.close();
  }
}

async function answerTo(respond: Respond, options: Partial<ReceiverOptions> = {}) {
  await using server = await startWebhookReceiver(respond);
  const answer = await sendTo(server, options);
  expect(server.forged).toEqual([]);
  return answer;
}

describe("a try", () => {
  it("is a POST whose signature the reference library accepts", async () => {
    await using server = await startWebhookReceiver();
    const delivered = { status: 204, error: null, isGone: false, retryAfterMs: undefined };
    expect(await sendTo(server)).toEqual(delivered);
    expect(server.forged).toEqual([]);
    const headers = { "content-type": "application/json", "webhook-id": "msg_1" };
    const path = `${SECRET_PATH}?sig=${PLANTED_SECRET}`;
    expect(server.notices).toMatchObject([{ ...MESSAGE, path, headers }]);
  });

  it("with another key is refused by the receiver", async () => {
    await using server = await startWebhookReceiver();
    expect(await sendTo(server, { key: Buffer.alloc(32) })).toMatchObject({ status: 401 });
    expect(server.forged).toHaveLength(1);
  });

  it("carries the login of the URL as a header", async () => {
    await using server = await startWebhookReceiver();
    await sendTo({ url: Object.assign(new URL(server.url), { username: "ada", password: "p%40ss" }) });
    expect(server.notices[0]?.headers.authorization).toBe(`Basic ${btoa("ada:p@ss")}`);
  });

  it.each([200, 202, 204, 299])("is delivered by a %i", async (status) => {
    expect(await answerTo(() => status)).toMatchObject({ status, error: null, isGone: false });
  });

  it.each([
    [301, "the receiver answered (301), and redirects are not followed"],
    [400, "the receiver answered (400)"],
    [404, "the receiver answered (404)"],
    [500, "the receiver answered (500)"],
  ])("fails by a %i", async (status, error) => {
    const answer = await answerTo((notice, response) => {
      // Many servers quote the path.
      response.writeHead(status, { location: notice.path }).end(`Cannot POST ${notice.path}`);
    });
    expect(answer).toEqual({ status, error, isGone: false, retryAfterMs: undefined });
  });

  it("learns that the receiver wants nothing more, and how long it wants to be left alone", async () => {
    expect(await answerTo(() => 410)).toMatchObject({ status: 410, isGone: true });
    const answer = await answerTo((_notice, response) => {
      response.writeHead(503, { "retry-after": "120" }).end();
    });
    expect(answer).toMatchObject({ status: 503, retryAfterMs: 120_000 });
  });

  it("ends in time when nothing is answered, or an answer never ends its head", {
    tags: ["long"],
  }, async () => {
    const silent = await answerTo(() => {}, { timeoutMs: 200 });
    expect(silent).toMatchObject({ status: null, error: "no answer within 0.2 s" });
    const dripping = await answerTo(
      (_notice, { socket }) => {
        const drip = setInterval(() => socket?.write("HTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n"), 20);
        socket?.once("close", () => clearInterval(drip));
      },
      { timeoutMs: 400 },
    );
    expect(dripping).toMatchObject({ status: null, error: expect.stringMatching(/./) });
  });

  it("needs no more than the head of an answer: an endless body is not read", async () => {
    let written = 0;
    const answer = await answerTo((_notice, response) => {
      response.writeHead(200);
      const more = () => {
        while (!response.destroyed && response.write("x".repeat(65_536))) written += 65_536;
      };
      response.on("drain", more);
      more();
    });
    expect(answer).toMatchObject({ status: 200, error: null });
    expect(written).toBeLessThan(20_000_000);
  });

  it("does not wait for a body that stalls", { tags: ["long"] }, async () => {
    const answer = await answerTo((_notice, response) => void response.writeHead(200).write("x"), {
      timeoutMs: 1_000_000,
    });
    expect(answer).toMatchObject({ status: 200, error: null });
  });

  it("fails by a head of any length, by garbage and by a connection that breaks", async () => {
    const huge = await answerTo((_notice, response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\nx-huge: ${"x".repeat(1_000_000)}\r\n\r\n`);
    });
    expect(huge).toMatchObject({ status: null, error: "the head of the answer is too long" });
    const garbage = await answerTo((_notice, response) => void response.socket?.end("SSH-2.0-hello\r\n\r\n"));
    expect(garbage).toMatchObject({ status: null, error: expect.stringMatching(/./) });
    const broken = await answerTo((_notice, response) => void response.socket?.destroy());
    expect(broken).toMatchObject({ status: null, error: "other side closed" });
  });

  it("names the address that cannot be reached, and never the path", async () => {
    const port = await freePort();
    const answer = await sendTo({ url: new URL(`http://127.0.0.1:${port}${SECRET_PATH}`) });
    expect(answer).toMatchObject({ status: null, error: `connect ECONNREFUSED 127.0.0.1:${port}` });
  });

  it("throws the reason of a stop", async () => {
    const stop = new AbortController();
    await using server = await startWebhookReceiver(() => stop.abort(new Error("stopped")));
    await expect(sendTo(server, {}, stop.signal)).rejects.toThrow("stopped");
  });

  it("goes through the proxy of the environment, whose faults it names without its password", async () => {
    await using server = await startWebhookReceiver();
    await using proxy = await startProxy({ port: Number(server.url.port), login: `ada:${PLANTED_SECRET}` });
    const sendBy = (HTTP_PROXY: string) =>
      sendTo({ url: new URL("http://hooks.invalid/x") }, { proxies: readProxies([{ HTTP_PROXY }]) });
    const login = { username: "ada", password: PLANTED_SECRET };
    expect((await sendBy(Object.assign(new URL(proxy.url), login).href)).status).toBe(204);
    expect(proxy.requests).toEqual(["POST http://hooks.invalid/x"]);
    expect((await sendBy(`http://ada:${PLANTED_SECRET}@127.0.0.1:1`)).error).toBe(
      "connect ECONNREFUSED 127.0.0.1:1, through the proxy http://ada:***@127.0.0.1:1 (HTTP_PROXY)",
    );
  });
});

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

const strict = (properties: Record<string, object>, required = Object.keys(properties)) => {
  return { type: "object", required, additionalProperties: false, properties };
};
const listOf = (maxItems: number, items: object) => ({ type: "array", minItems: 1, maxItems, items });
const textUpTo = (maxLength: number) => ({ type: "string", minLength: 1, maxLength });
const SLACK_TEXT = strict({ type: { const: "mrkdwn" }, text: textUpTo(3000) });

/** The part of Slack's reference of messages and blocks that we use. */
const SLACK = strict({
  text: textUpTo(40_000),
  blocks: listOf(50, {
    oneOf: [
      strict({ type: { const: "section" }, text: SLACK_TEXT }),
      strict({ type: { const: "context" }, elements: listOf(10, SLACK_TEXT) }),
    ],
  }),
});

const TEXT_BLOCK = { type: { const: "TextBlock" }, text: textUpTo(10_000), wrap: { type: "boolean" } };
const FACTS = { type: "array", items: strict({ title: { type: "string" }, value: { type: "string" } }) };
/** The part of adaptive cards, and of the message around one, that we use. */
const TEAMS = strict({
  type: { const: "message" },
  attachments: listOf(
    1,
    strict({
      contentType: { const: "application/vnd.microsoft.card.adaptive" },
      contentUrl: { type: "null" },
      content: strict({
        $schema: { type: "string" },
        type: { const: "AdaptiveCard" },
        version: { enum: ["1.0", "1.1", "1.2", "1.3", "1.4"] },
        body: listOf(50, {
          oneOf: [strict(TEXT_BLOCK, ["type", "text"]), strict({ type: { const: "FactSet" }, facts: FACTS })],
        }),
      }),
    }),
  ),
});

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
    const escaped =
      "pip broke: html of latest failed: &lt;!here&gt; &amp; *no* _such_ `branch` [x](http://x)";
    expect(text.replaceAll("\u200b", "")).toBe(escaped);
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

  it.each(["slack", "teams"] as const)("has no mark in %s that turns its text around", (format) => {
    const summary = "pip broke: \u202egnp.exe\u2066 \u200fa";
    const body = bodyOf({ ...BROKE, data: { summary, project_slug: "p\u202eq" } }, format);
    expect(body).toContain("pip broke: \ufffdgnp.exe\ufffd \ufffda");
    expect(body).toContain("p\ufffdq");
  });

  it("has its type where it has no sentence", () => {
    expect(JSON.parse(bodyOf(BARE, "slack")).text).toBe("test");
  });
});
