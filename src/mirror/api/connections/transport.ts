import { createConnections } from "./connections.ts";
import type { DispatcherOptions } from "./dispatcher.ts";
import type { Fetch, FetchReply } from "./fetch.ts";

export interface SentRequest {
  headers: Record<string, string>;
  signal: AbortSignal;
  /** Milliseconds to wait for the head of the reply, and for more of its body. */
  timeoutMs: number;
}

/** The head of a reply, and its body as it comes. */
export interface RawReply {
  status: number;
  /** By name in lower case. */
  headers: Readonly<Partial<Record<string, string | string[]>>>;
  body: AsyncIterable<Buffer>;
  /** Ends a reply whose body is not read. */
  drop(): void;
}

/** What carries requests to one service. */
export interface Transport {
  /** Whether it unpacks bodies itself, whatever their `content-encoding` says. It then asks for the encodings too. */
  readonly unpacks: boolean;
  send(url: URL, request: SentRequest): Promise<RawReply>;
  /** May be called twice. */
  close(): Promise<void>;
}

/** Our own connections. */
export function createTransport(options: DispatcherOptions): Transport {
  const connections = createConnections(options);
  return {
    unpacks: false,
    async send(url, { timeoutMs, ...sent }) {
      const { request, dispatcher } = await connections.open();
      const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs };
      const { statusCode: status, headers, body } = await request(url, { dispatcher, ...sent, ...limits });
      return { status, headers, body, drop: () => void body.on("error", () => {}).destroy() };
    },
    close: connections.close,
  };
}

/** The ways of a function. */
export function transportOf(fetch: Fetch): Transport {
  return {
    unpacks: true,
    async send(url, { headers, signal }) {
      const reply = await fetch(url.href, { method: "GET", headers, redirect: "manual", signal }).catch(
        (error: unknown) => {
          // "fetch failed" says nothing; its cause does.
          throw error instanceof TypeError && error.cause instanceof Error ? error.cause : error;
        },
      );
      const found: [string, string][] = [];
      reply.headers.forEach((value, name) => {
        found.push([name.toLowerCase(), value]);
      });
      const reader = reply.body?.getReader();
      return {
        status: reply.status,
        headers: Object.fromEntries(found),
        body: piecesOf(reader),
        drop: () => void reader?.cancel().catch(() => {}),
      };
    },
    close: async () => {},
  };
}

type Reader = ReturnType<NonNullable<FetchReply["body"]>["getReader"]>;

async function* piecesOf(reader: Reader | undefined): AsyncGenerator<Buffer> {
  try {
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      if (read.value) yield Buffer.from(read.value);
  } finally {
    await reader?.cancel().catch(() => {});
  }
}
