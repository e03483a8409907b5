import { createHmac } from "node:crypto";
import type { NoticeType } from "../base/config/notice-types.ts";
import type { WebhookFormat } from "./webhook.ts";

/** A notice as receivers see it. */
export interface Message {
  /** The `webhook-id`, the same in each try. */
  id: string;
  type: NoticeType;
  /** When it was noted, in ISO 8601. */
  timestamp: string;
  data: Record<string, unknown>;
}

/** The bytes of the body. They are the same in each try. */
export function bodyOf(message: Message, format: WebhookFormat): string {
  return JSON.stringify(WRITERS[format](message));
}

const WRITERS: Record<WebhookFormat, (message: Message) => object> = {
  standard: ({ type, timestamp, data }) => ({ type, timestamp, data }),
  // An incoming webhook of Slack: `text` is for notifications, `blocks` for the channel.
  slack(message) {
    const facts = factsOf(message).map(([name, value]) => `*${slackText(name)}* ${slackText(value)}`);
    const summary = slackText(summaryOf(message));
    return {
      text: summary,
      blocks: [
        { type: "section", text: { type: "mrkdwn", text: summary } },
        ...(facts.length === 0
          ? []
          : [{ type: "context", elements: [{ type: "mrkdwn", text: facts.join("   ") }] }]),
      ],
    };
  },
  // A workflow of Teams that begins when a webhook request is received: one adaptive card.
  teams(message) {
    const facts = factsOf(message).map(([title, value]) => ({ title, value: plainMarkdown(value) }));
    return {
      type: "message",
      attachments: [
        {
          contentType: "application/vnd.microsoft.card.adaptive",
          contentUrl: null,
          content: {
            $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
            type: "AdaptiveCard",
            version: "1.4",
            body: [
              { type: "TextBlock", text: plainMarkdown(summaryOf(message)), wrap: true },
              ...(facts.length === 0 ? [] : [{ type: "FactSet", facts }]),
            ],
          },
        },
      ],
    };
  },
};

function summaryOf({ type, data }: Message): string {
  return typeof data.summary === "string" && data.summary !== "" ? data.summary : type;
}

/** What people need beside the sentence, in the order in which it is shown. */
const SHOWN = {
  project_slug: "project",
  version_slug: "version",
  type: "type",
  build_id: "build",
  run_id: "run",
  resource: "list",
  error_class: "cause",
} as const;

function factsOf({ data, timestamp }: Message): [string, string][] {
  const facts = Object.entries(SHOWN).flatMap(([field, name]): [string, string][] => {
    const value = data[field];
    return typeof value === "string" || typeof value === "number" ? [[name, String(value)]] : [];
  });
  return [...facts, ["noted", timestamp.replace(/\.\d+Z$/, "Z")]];
}

/** The three characters that Slack gives a meaning, and those of its formatting, which a text of upstream must not have. */
function slackText(text: string): string {
  return plainMarkdown(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Without effect as formatting: a zero-width space behind each character that begins one. */
function plainMarkdown(text: string): string {
  return text.replaceAll(/[*_~`[\]]/g, "$&\u200b");
}

/** The headers of one try, as Standard Webhooks has them. `sentAt` is our own clock: receivers refuse a wrong one. */
export function signedHeaders(id: string, body: string, key: Buffer, sentAt: Date): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
