import { MirrorError, messageOf } from "../../base/errors.ts";
import type { DispatcherOptions } from "./dispatcher.ts";
import type { Fetch } from "./fetch.ts";

export interface RawReply {
  status: number;
  /** By name in lower case. */
  headers: Readonly<Partial<Record<string, string | string[]>>>;
  body: AsyncIterable<Buffer>;
  drop(): void;
}

interface Transport {
  /** It unpacks bodies itself, whatever their `content-encoding` says, and asks for the encodings too. */
  readonly unpacks: boolean;
  /** Nothing but the signal limits the wait for a reply. */
  send(url: URL, request: { headers: Record<string, string>; signal: AbortSignal }): Promise<RawReply>;
  /** May be called twice. */
  close(): Promise<void>;
}

export function createTransport(options: DispatcherOptions): Transport {
  const connections = createConnections(options);
  return {
    unpacks: false,
    async send(url, sent) {
      const { request, dispatcher } = await connections.open();
      const { statusCode: status, headers, body } = await request(url, { dispatcher, ...sent });
      return { status, headers, body, drop: () => void body.on("error", () => {}).destroy() };
    },
    close: connections.close,
  };
}

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
      const drop = () => void reader?.cancel().catch(() => {});
      async function* pieces(): AsyncGenerator<Buffer> {
        try {
          for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
            if (read.value) yield Buffer.from(read.value);
        } finally {
          drop();
        }
      }
      return { status: reply.status, headers: Object.fromEntries(found), body: pieces(), drop };
    },
    close: async () => {},
  };
}

let loaded: Promise<typeof import("./dispatcher.ts")> | undefined;

/**
 * Loads what the first request needs, once: a program may send it long after its start, when an upgrade has replaced the files.
 * Throws MirrorError where it cannot be loaded: nothing was sent, so no service is to blame.
 */
export function loadConnections() {
  loaded ??= import("./dispatcher.ts").catch((cause: unknown) => {
    throw new MirrorError(`the code that sends requests could not be loaded: ${messageOf(cause)}`, {
      cause,
      hint: "where a bundler made this program, let it leave packages out (esbuild: --packages=external); else install docmirror again",
    });
  });
  return loaded;
}

interface OpenConnections {
  request: typeof import("undici").request;
  dispatcher: import("undici").Dispatcher;
}

interface Connections {
  /** Opens them once. */
  open(): Promise<OpenConnections>;
  /** May be called twice. */
  close(): Promise<void>;
}

/** Opened with the first request: undici is a third of the program, and commands start faster without it. */
export function createConnections(options: DispatcherOptions): Connections {
  let opened: Promise<OpenConnections> | undefined;
  return {
    open() {
      opened ??= loadConnections().then(({ createDispatcher, request }) => {
        return { request, dispatcher: createDispatcher(options) };
      });
      return opened;
    },
    async close() {
      await (await opened)?.dispatcher.destroy();
    },
  };
}
