import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import PQueue from "p-queue";
import { request } from "undici";
import type { Clock } from "../clock.ts";
import { findProxyRoute } from "../config/proxy-route.ts";
import type { Config } from "../config.ts";
import { NetworkError, UnexpectedShapeError } from "../errors.ts";
import { apiUrl } from "./api-url.ts";
import { ACCEPT_ENCODING, BodyTooLargeError, decodeBody, readBody } from "./body.ts";
import { type ClockAhead, createClockDifference } from "./clock-difference.ts";
import { basicLogin, createDispatcher } from "./dispatcher.ts";
import { createHostGate } from "./host-gate.ts";
import { createHostPace, type HostPace } from "./host-pace.ts";
import { parseHttpDate } from "./http-date.ts";
import { linkSignals } from "./link-signals.ts";
import { toProxyError } from "./proxy-errors.ts";
import { refuseRedirect, refuseRedirects } from "./refuse-redirect.ts";
import { withRetries } from "./retry.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { statusError } from "./status-error.ts";
import { createTurnstile } from "./turnstile.ts";
import { excerpt, showUrl, toUpstreamError } from "./upstream-errors.ts";

const MAX_REDIRECTS = 3;
const ROOT_PATH = "/api/v1/";

/** The part of a log that the client writes to. `waitMs` is null when all requests are held back. */
export interface RetryLog {
  warn(facts: { attempt: number; waitMs: number | null; error: string }, message: string): void;
}

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
  signal?: AbortSignal;
}

export interface JsonReply<T> {
  url: string;
  /** Null when the body has the known hash. */
  value: T | null;
  /** SHA-256 of the body, hex. */
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
  const { baseUrl, clock, log, maxBodyBytes } = options;
  const route = findProxyRoute(baseUrl, options.proxies);
  const dispatcher = createDispatcher({
    proxy: route.proxy,
    connections: options.concurrency,
    timeoutMs: options.timeoutMs,
  });
  // Every request to the host passes this queue.
  const queue = new PQueue({ concurrency: options.concurrency });
  const parseTurn = createTurnstile();
  const stats = { requests: 0, bytes: 0 };
  const clockDifference = createClockDifference();
  const closing = new AbortController();
  // Every running and every waiting request listens to it.
  setMaxListeners(0, closing.signal);
  const gate = createHostGate({
    pace: options.pace ?? createHostPace(options),
    retries: options.retries,
    clock,
    probe,
    signal: closing.signal,
    onWarning: (message) => options.onWarning?.(message),
  });

  async function probe(): Promise<void> {
    const url = apiUrl(ROOT_PATH, baseUrl) ?? baseUrl;
    const sent = await sendInTime(url, closing.signal);
    if (sent.redirect === null && sent.ageMs > 0) {
      throw new NetworkError(`GET ${showUrl(url)} was answered by a cache, not by the service`, {
        url: showUrl(url),
      });
    }
  }

  /** Sends one request. Gives the body, or the target of a redirect within the service. */
  async function send(url: URL, signal: AbortSignal): Promise<Sent> {
    stats.requests += 1;
    const sentAt = clock.now();
    const reply = await request(url, {
      dispatcher,
      signal,
      headers: {
        accept: "application/json",
        "user-agent": "docmirror",
        "accept-encoding": ACCEPT_ENCODING,
        ...authorization(baseUrl),
      },
    });
    const header = (name: string) => [reply.headers[name]].flat()[0];
    const serverDate = parseHttpDate(header("date"));
    // A reply with an age comes from a cache. Its date and its content are that old.
    const ageMs = cacheAgeMs(header("age"));
    if (serverDate && ageMs === 0) clockDifference.learn(serverDate, sentAt, clock.now());
    if (Number(header("content-length")) > maxBodyBytes) {
      reply.body.on("error", () => {}).destroy();
      throw new BodyTooLargeError(
        `the body of ${header("content-length")} bytes is longer than ${maxBodyBytes} bytes`,
      );
    }
    const askedAt = new Date(sentAt.getTime() - ageMs);
    const raw = await readBody(reply.body, maxBodyBytes);
    stats.bytes += lengthOf(raw);
    const status = reply.statusCode;
    if (status >= 300 && status < 400 && status !== 304) {
      const location = header("location") ?? "";
      const isLink = location !== "" && URL.canParse(location, url.href);
      const redirect = isLink ? apiUrl(new URL(location, url).href, baseUrl) : null;
      return redirect ? { redirect } : refuseRedirect(url, status, location);
    }
    const decoded = decodeBody(raw, header("content-encoding"), maxBodyBytes);
    if (status < 200 || status >= 300) {
      const text = Buffer.concat(await decoded.catch(() => []));
      const hasLogin = authorization(baseUrl).authorization !== undefined;
      // A date is on the server's clock, which may differ from ours.
      const retryAfterMs = parseRetryAfter(header("retry-after"), serverDate ?? clock.now());
      throw statusError(url, {
        status,
        body: text,
        retryAfterMs,
        hasLogin,
        askedAt,
        observedAt: clock.now(),
      });
    }
    return { redirect: null, body: await decoded, sentAt: askedAt, ageMs, serverDate };
  }

  async function sendInTime(url: URL, signal: AbortSignal): Promise<Sent> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
    const either = linkSignals([signal, deadline.signal]);
    try {
      return await send(url, either.signal);
    } catch (error) {
      signal.throwIfAborted();
      const timeoutMs = deadline.signal.aborted ? options.timeoutMs : null;
      throw toProxyError(error, url, route, timeoutMs) ?? toUpstreamError(error, url, timeoutMs);
    } finally {
      clearTimeout(timer);
      either.release();
    }
  }

  async function attempt<T>(
    url: URL,
    attemptNumber: number,
    signal: AbortSignal,
    fetchOptions: FetchOptions<T>,
  ): Promise<JsonReply<T>> {
    // Every request passes the gate, retries and redirects too. The time limit starts after the gate.
    const ask = (place: URL) => gate.ask(() => sendInTime(place, signal), attemptNumber, signal);
    let sent = await ask(url);
    for (let redirects = 1; sent.redirect !== null; redirects++) {
      if (redirects > MAX_REDIRECTS) refuseRedirects(url, MAX_REDIRECTS);
      sent = await ask(sent.redirect);
    }
    const { body, sentAt, serverDate } = sent;
    const receivedAt = clock.now();
    const hash = hashOf(body);
    const known = hash === (await fetchOptions.knownHash);
    if (!known) await parseTurn();
    // Not inside `sendInTime`, so that a bug in `parse` is not reported as a network error.
    const value = known
      ? null
      : fetchOptions.parse(parseJson(Buffer.concat(body), showUrl(url)), showUrl(url));
    return { url: showUrl(url), value, hash, bytes: lengthOf(body), sentAt, receivedAt, serverDate };
  }

  return {
    baseUrl,
    async fetchJson(path, fetchOptions) {
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
      const { signal, release } = linkSignals([
        closing.signal,
        options.signal,
        fetchOptions.signal,
        gate.lost,
      ]);
      try {
        const oneTry = (attemptNumber: number) =>
          queue.add(() => attempt(url, attemptNumber, signal, fetchOptions), { signal });
        return await withRetries(oneTry, {
          retries: Math.min(fetchOptions.retries ?? options.retries, options.retries),
          clock,
          signal,
          onRetry: (error, attemptNumber, waitMs) =>
            log.warn(
              { attempt: attemptNumber, waitMs, error: error.message },
              "request failed, trying again",
            ),
        });
      } finally {
        release();
      }
    },
    async isUp(signal) {
      const either = linkSignals([closing.signal, options.signal, signal]);
      try {
        return await gate.isUp(either.signal);
      } finally {
        either.release();
      }
    },
    lost: gate.lost,
    stats: () => ({ ...stats }),
    clockAhead: clockDifference.ahead,
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the client was closed"));
      await dispatcher.destroy();
    },
  };
}

type Sent =
  | { redirect: URL }
  | { redirect: null; body: Buffer[]; sentAt: Date; ageMs: number; serverDate: Date | null };

/**
 * How old a reply was on arrival, by its `Age` in whole seconds (RFC 9111). 0 without one, at most about a
 * year.
 */
function cacheAgeMs(age: string | undefined): number {
  if (age === undefined || !/^\d+$/.test(age.trim()) || Number(age) === 0) return 0;
  return Math.min(Number(age) + 1, 366 * 86_400) * 1000;
}

function authorization({ username, password }: URL): { authorization?: string } {
  return username === "" && password === "" ? {} : { authorization: basicLogin(username, password) };
}

function lengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function hashOf(pieces: readonly Buffer[]): string {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  return hash.digest("hex");
}

function parseJson(body: Buffer, url: string): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch (cause) {
    throw new UnexpectedShapeError(`GET ${url} answered with no JSON${excerpt(body)}`, {
      url,
      cause,
      hint: "check DOCMIRROR_BASE_URL: it is the part before /api/v1/",
    });
  }
}
