// A leaf: the types of the package reach it, so nothing here may lead to another package.
import type { Fetch, RequestNotice } from "../mirror/api/fetch.ts";

/** A request that failed and is sent again. */
export interface RetryNotice {
  attempt: number;
  /** Milliseconds until the next try. Null when the service asked all requests to wait. */
  waitMs: number | null;
  error: string;
}

/** The service and the manners of a client. Each default is that of the setting with the same meaning. */
export interface ServiceClientOptions {
  /**
   * The URL before `/api/v1/`, with its path prefix if it has one. A user and a password in it are sent as
   * Basic, for a proxy in front of the service.
   */
  baseUrl: string | URL;
  /** Requests a second, evenly spaced, for all calls of this client; 0 means no limit. @default 3 */
  ratePerSecond?: number | undefined;
  /** The most requests in flight at once, 1 to 64. @default 4 */
  concurrency?: number | undefined;
  /** Milliseconds for one try of a request, headers and body. @default 30000 */
  timeoutMs?: number | undefined;
  /** Tries after the first, 0 to 100, for network errors, 408, 425, 429 and 5xx. `Retry-After` is obeyed. @default 5 */
  retries?: number | undefined;
  /** The longest body that is accepted, before and after decompression. @default 64 MiB */
  maxBodyBytes?: number | undefined;
  /** Aborts every request and every wait of the client. They reject with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** The value of `User-Agent`: who asks, as "our-tool/1.2 (ops@example.org)". @default "docmirror" */
  userAgent?: string | undefined;
  /**
   * Sent with every request, as a login that the service wants. Messages do not show values of logins. A name that
   * belongs to the connection, such as `host`, is a ConfigError. @default none
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends each request in place of the client's own connections: `globalThis.fetch`, one with a dispatcher of your own,
   * or one for tests. Pace, retries, limits and redirects stay with the client. Proxies are then its matter.
   * @default undici
   */
  fetch?: Fetch | undefined;
  /** HTTP_PROXY, HTTPS_PROXY and NO_PROXY count. They do not with `fetch`. @default true */
  useProxies?: boolean | undefined;
  /**
   * A record may hold a value of another type in a documented field, and `NaN` or an infinite number, which
   * Python writes. Such a value is then in `extra`, and the field is absent. Otherwise such a record is an
   * `UnexpectedShapeError`. @default false
   */
  allowOddFields?: boolean | undefined;
  /** Called at the end of each request that was sent, tries and redirects too: for a log, a trace or a count. It must not throw. */
  onRequest?: ((notice: RequestNotice) => void) | undefined;
  onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called when the service held back or paused the requests, with a sentence for people. */
  onWarning?: ((message: string) => void) | undefined;
}

/** The differences of a call's requests from those of the client. */
export interface CallOptions {
  /** Aborts this call alone. It rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for one try of each request. @default that of the client */
  timeoutMs?: number | undefined;
  /** Tries after the first, 0 to 100, also more than those of the client. @default that of the client */
  retries?: number | undefined;
  /** Sent in addition to those of the client; of one name, these count. @default none */
  headers?: Readonly<Record<string, string>> | undefined;
}
