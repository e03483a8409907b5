import { createHmac } from "node:crypto";
import type { Clock } from "../base/clock.ts";
import { findProxyRoute, type Proxies, type ProxyRoute, showProxy } from "../base/config/proxies.ts";
import type { NoticeType } from "../base/config/setting.ts";
import { printable } from "../base/text.ts";
import { userAgentOf } from "../base/version.ts";
import { loginOf } from "../mirror/api/logins.ts";
import { parseRetryAfter } from "../mirror/api/reply-times.ts";
import { createConnections } from "../mirror/api/transport.ts";
import { TunnelError } from "../mirror/api/upstream-errors.ts";
import type { Webhook, WebhookFormat } from "./webhook.ts";

/** For a whole try, from the connection to the head of the reply. */
const TIMEOUT_MS = 15_000;
/** The reply's body says nothing that we need. So much of it is read that the connection can be used again. */
const MAX_BODY_BYTES = 4096;
const BODY_WITHIN_MS = 1000;
const MAX_ERROR_LENGTH = 300;

/** The result of one try. */
export interface ReceiverAnswer {
  readonly status: number | null;
  /** Why it counts as failed; null when it is delivered. Never quotes the reply or the path of the URL: both may hold secrets. */
  readonly error: string | null;
  readonly isGone: boolean;
  readonly retryAfterMs: number | undefined;
}

export type Receiver = ReturnType<typeof createReceiver>;

export interface ReceiverOptions extends Pick<Webhook, "url" | "key" | "format"> {
  proxies?: Proxies | undefined;
  clock: Clock;
  /** @default 15000 */
  timeoutMs?: number;
}

/** Sends to one webhook, through the proxy of the environment where there is one. Redirects are not followed. */
export function createReceiver(options: ReceiverOptions) {
  const { url, key, format, proxies, clock, timeoutMs = TIMEOUT_MS } = options;
  const route = findProxyRoute(url, proxies);
  const connections = createConnections({ proxy: route.proxy, connections: 1, timeoutMs });
  const login = loginOf(url);
  const target = new URL(url);
  target.username = target.password = "";

  return {
    async send(message: Message, signal: AbortSignal): Promise<ReceiverAnswer> {
      signal.throwIfAborted();
      if (route.proxy === null && route.isFault) return failed(`${route.because} is not a proxy's address`);
      const late = AbortSignal.timeout(timeoutMs);
      const body = bodyOf(message, format);
      try {
        const { dispatcher, request } = await connections.open();
        const reply = await request(target, {
          method: "POST",
          dispatcher,
          signal: AbortSignal.any([signal, late]),
          headers: {
            "content-type": "application/json",
            "user-agent": userAgentOf(null),
            ...(login !== null && { authorization: login }),
            ...(key && signedHeaders(message.id, body, key, clock.now())),
          },
          body,
        });
        const bounds = { limit: MAX_BODY_BYTES, signal: AbortSignal.timeout(BODY_WITHIN_MS) };
        await reply.body.dump(bounds).catch(() => {});
        const retryAfter = [reply.headers["retry-after"]].flat()[0];
        return judge(reply.statusCode, parseRetryAfter(retryAfter, clock.now()));
      } catch (error) {
        signal.throwIfAborted();
        if (late.aborted) return failed(`no answer within ${timeoutMs / 1000} s${through(route)}`);
        return failed(`${reasonOf(error)}${through(route)}`);
      }
    },
    /** May be called twice. */
    close: () => connections.close(),
  };
}

function judge(status: number, retryAfterMs: number | undefined): ReceiverAnswer {
  const isDelivered = status >= 200 && status < 300;
  const what = status === 410 ? "the receiver wants no more notices" : "the receiver answered";
  const more = status >= 300 && status < 400 ? ", and redirects are not followed" : "";
  const error = isDelivered ? null : `${what} (${status})${more}`;
  return { status, error, isGone: status === 410, retryAfterMs };
}

function failed(error: string): ReceiverAnswer {
  return { status: null, error: error.slice(0, MAX_ERROR_LENGTH), isGone: false, retryAfterMs: undefined };
}

/** Node and undici name hosts and ports in their messages, never a path. */
function reasonOf(error: unknown): string {
  const inner: unknown = error instanceof AggregateError ? error.errors[0] : error;
  if (inner instanceof TunnelError) {
    if (inner.cause instanceof Error) return reasonOf(inner.cause);
    return `no tunnel was opened (${inner.status})`;
  }
  if (inner instanceof Error && inner.name === "HeadersOverflowError")
    return "the head of the answer is too long";
  return inner instanceof Error ? inner.message || inner.name : String(inner);
}

function through({ proxy, because }: ProxyRoute): string {
  return proxy === null ? "" : `, through the proxy ${showProxy(proxy)} (${because})`;
}

/** A notice as receivers see it. */
export interface Message {
  /** The `webhook-id`, the same in each try. */
  id: string;
  type: NoticeType;
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
    const inWords = (text: string) => ({ type: "mrkdwn", text });
    const context = { type: "context", elements: [inWords(facts.join("   "))] };
    return { text: summary, blocks: [{ type: "section", text: inWords(summary) }, context] };
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
              { type: "FactSet", facts },
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

/** The facts that people need beside the sentence, in the order in which they are shown. */
const SHOWN = {
  service: "service",
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

/** Without effect as formatting: a zero-width space behind each character that begins one. Nothing turns the text around either. */
function plainMarkdown(text: string): string {
  return printable(text, { keepNewlines: true }).replaceAll(/[*_~`[\]]/g, "$&\u200b");
}

/** The headers of one try, as Standard Webhooks has them. `sentAt` is our own clock: receivers refuse a wrong one. */
export function signedHeaders(id: string, body: string, key: Buffer, sentAt: Date): Record<string, string> {
  const timestamp = String(Math.floor(sentAt.getTime() / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}
