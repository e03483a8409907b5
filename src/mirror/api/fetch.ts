// A leaf: the types of `docmirror/client` reach it, so nothing here may name another package.

/** The parts of a request of `Fetch`. */
export interface FetchInit {
  method: "GET";
  /** By name in lower case. They have no `accept-encoding`: the function asks for what it unpacks itself. */
  headers: Record<string, string>;
  redirect: "manual";
  signal: AbortSignal;
}

/** The part of a `Response` that is read. */
export interface FetchReply {
  readonly status: number;
  readonly headers: { forEach(call: (value: string, name: string) => void): void };
  readonly body: {
    getReader(): {
      read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/** Sends one request. `globalThis.fetch` is one, and so is that of undici with a dispatcher of one's own. */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchReply>;

/** A request that was sent and has ended. */
export interface RequestNotice {
  /** Without user and password. */
  url: string;
  /** Null where no whole reply came. */
  status: number | null;
  /** Milliseconds, without the wait for the rate. */
  tookMs: number;
}
