import { createHash } from "node:crypto";
import type { Clock } from "../../base/clock.ts";
import type { Config } from "../../base/config.ts";
import { UnexpectedShapeError } from "../../base/errors.ts";
import type { RequestMeter } from "../../base/metrics/request-meter.ts";
import { markDamaged } from "../../resources/damaged-records.ts";
import { parseJson } from "../../resources/parse-json.ts";
import { apiUrl } from "./api-url.ts";
import type { ClockAhead } from "./clock-difference.ts";
import { charsetOf, decodeReply } from "./decode-reply.ts";
import { byteLengthOf, createHost, type Host, type RetryLog } from "./host.ts";
import type { HostPace } from "./host-pace.ts";
import { refuseRedirect } from "./refuse-redirect.ts";
import { requestLabel } from "./request-label.ts";
import { createTurnstile } from "./turnstile.ts";
import { showUrl } from "./upstream-errors.ts";

const ROOT_PATH = "/api/v1/";

export interface ClientOptions
  extends Pick<
    Config,
    "ratePerSecond" | "concurrency" | "timeoutMs" | "retries" | "maxBodyBytes" | "proxies"
  > {
  baseUrl: URL;
  /** The pace that all clients of the host share. It replaces `ratePerSecond`. @default the client's own */
  pace?: HostPace;
  clock: Clock;
  /** Hears of each retry. The program's log is one. */
  log: RetryLog;
  signal?: AbortSignal;
  /** Called with warnings for the summary of the run: requests were paused, or the service held them back. */
  onWarning?(message: string): void;
  /** Counts the requests. @default nothing does */
  meter?: RequestMeter | undefined;
}

export interface FetchOptions<T> {
  /**
   * Turns the parsed JSON into the value. Throws `UnexpectedShapeError` for a bad reply, which is then
   * retried.
   */
  parse(value: unknown, url: string): T;
  /**
   * The hash of a known body. A body with this hash is not parsed. It may be a promise, looked up during the
   * request.
   */
  knownHash?: string | Promise<string | undefined>;
  /** The number of retries for this request. @default the client's own */
  retries?: number;
  /** Among waiting requests, those with a higher one are sent first. @default 0 */
  priority?: number;
  signal?: AbortSignal;
  /** Hears of the retries of this request. @default the client's own */
  log?: RetryLog;
}

export interface JsonReply<T> {
  url: string;
  /** Null when the body has the known hash. */
  value: T | null;
  /** SHA-256 of the body, hex; of another charset than UTF-8, with its name in front. */
  hash: string;
  bytes: number;
  /**
   * When the answered request was sent: the last try, after its last redirect. A reply from a cache counts as
   * sent when the cache got it.
   */
  sentAt: Date;
  /** When the last byte arrived. */
  receivedAt: Date;
  /** The `Date` header of the reply, or null. */
  serverDate: Date | null;
}

/** Sends requests to the service at a steady pace, with retries. One request in, one parsed reply out. */
export interface Client {
  readonly baseUrl: URL;
  /**
   * Fetches JSON from a path of the API. Throws `HttpStatusError`, `NetworkError`, `TimeoutError` or
   * `UnexpectedShapeError` after all retries, and the signal's reason when aborted. Once the host is lost
   * (see `host-gate.ts`), all requests fail at once with one of the first three errors. Safe to repeat: every
   * request is a GET.
   */
  fetchJson<T>(path: string, options: FetchOptions<T>): Promise<JsonReply<T>>;
  /**
   * Whether the root of the API answers now. For callers whose page or record keeps failing. False once the
   * host is lost. Rejects when `signal` is aborted or the client is closed.
   */
  isUp(signal?: AbortSignal): Promise<boolean>;
  /** Aborted when the host is lost. Its reason is the error of every request from then on. */
  readonly lost: AbortSignal;
  /** Requests sent, retries included, and body bytes received, since the client was created. */
  stats(): { requests: number; bytes: number };
  /**
   * How far the service's clock is ahead, from the `Date` headers of all replies so far. Null when no reply
   * had one.
   */
  clockAhead(): ClockAhead | null;
  /** Fails every request, running or waiting, and every later one. May be called twice. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl } = options;
  const parseTurn = createTurnstile();
  const warned = new Set<string>();
  const warnOfCharset = (label: string) => {
    // A service has one charset, or a few.
    if (warned.has(label) || warned.size >= 3) return;
    warned.add(label);
    options.onWarning?.(
      `the service declares the charset '${label.slice(0, 40)}', which nobody knows; its replies are read as UTF-8`,
    );
  };
  const host = createHost({
    ...options,
    rootUrl: apiUrl(ROOT_PATH, baseUrl) ?? baseUrl,
    accept: "application/json",
    labelOf: (url) => requestLabel(url, baseUrl),
    follow(url, status, location) {
      const isLink = location !== "" && URL.canParse(location, url.href);
      const target = isLink ? apiUrl(new URL(location, url).href, baseUrl) : null;
      return target ?? refuseRedirect(url, status, location);
    },
  });

  return {
    baseUrl,
    async fetchJson<T>(path: string, fetchOptions: FetchOptions<T>) {
      const url = apiUrl(path, baseUrl);
      if (!url) {
        throw new UnexpectedShapeError(
          `'${path.slice(0, 200)}' is not a path of the API below ${showUrl(baseUrl)}`,
          {
            url: path.slice(0, 200),
            hint: "docmirror only follows links within the API",
          },
        );
      }
      const { retries, priority, signal, log } = fetchOptions;
      return host.ask<JsonReply<T>>(url, {
        ...(retries !== undefined && { retries }),
        ...(priority !== undefined && { priority }),
        ...(signal && { signal }),
        ...(log && { log }),
        async read({ body, header, sentAt, receivedAt, serverDate }) {
          const charset = charsetOf(header("content-type"));
          if (charset.unknown !== null) warnOfCharset(charset.unknown);
          const hash = hashOf(body, charset.name);
          const known = hash === (await fetchOptions.knownHash);
          if (!known) await parseTurn();
          const value = known
            ? null
            : fetchOptions.parse(
                readJson(Buffer.concat(body), charset.name, showUrl(url), host.excerpt),
                showUrl(url),
              );
          return {
            url: showUrl(url),
            value,
            hash,
            bytes: byteLengthOf(body),
            sentAt,
            receivedAt,
            serverDate,
          };
        },
      });
    },
    isUp: host.isUp,
    lost: host.lost,
    stats: host.stats,
    clockAhead: host.clockAhead,
    close: host.close,
  };
}

/** Bytes of another charset are other characters. */
function hashOf(pieces: readonly Buffer[], charset: string): string {
  const hash = createHash("sha256");
  if (charset !== "utf-8") hash.update(`${charset}:`);
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function readJson(body: Buffer, charset: string, url: string, excerpt: Host["excerpt"]): unknown {
  try {
    const { text, damaged } = decodeReply(body, charset);
    const value = parseJson(text);
    if (damaged !== null) markDamaged(value, parseJson(damaged));
    return value;
  } catch (cause) {
    throw new UnexpectedShapeError(`GET ${url} answered with no JSON${excerpt(body)}`, {
      url,
      cause,
      hint: "check DOCMIRROR_BASE_URL: it is the part before /api/v1/",
    });
  }
}
