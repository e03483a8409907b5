import { createHash } from "node:crypto";
import { setMaxListeners } from "node:events";
import PQueue from "p-queue";
import { Agent, errors, request } from "undici";
import type { Clock } from "../clock.ts";
import {
  HttpStatusError,
  MirrorError,
  NetworkError,
  TimeoutError,
  UnexpectedShapeError,
  type UpstreamError,
} from "../errors.ts";
import type { Logger } from "../log.ts";
import { apiUrl } from "./api-url.ts";
import { ACCEPT_ENCODING, BodyTooLargeError, decodeBody, readBody, UndecodableBodyError } from "./body.ts";
import { type ClockAhead, createClockDifference } from "./clock-difference.ts";
import { createHostGate } from "./host-gate.ts";
import { createHostPace, type HostPace } from "./host-pace.ts";
import { parseHttpDate } from "./http-date.ts";
import { linkSignals } from "./link-signals.ts";
import { withRetries } from "./retry.ts";
import { parseRetryAfter } from "./retry-after.ts";
import { createTurnstile } from "./turnstile.ts";

const MAX_REDIRECTS = 3;

export interface ClientOptions {
  baseUrl: URL;
  concurrency: number;
  /** Requests a second, evenly spaced; 0 for no limit. */
  ratePerSecond: number;
  /** What the host's other clients keep to as well; `ratePerSecond` then counts for nothing. @default the client's own */
  pace?: HostPace;
  /** For a whole request, from its first byte sent to its last one received. */
  timeoutMs: number;
  /** Tries after the first. */
  retries: number;
  maxBodyBytes: number;
  clock: Clock;
  log: Logger;
  signal?: AbortSignal;
  /** Told what the run's summary should say: that the service was left alone for a while, or that it held requests back. */
  onWarning?(message: string): void;
}

export interface FetchOptions<T> {
  /** Turns the parsed JSON into what is wanted, or throws `UnexpectedShapeError`; a reply that fails is asked for again. */
  parse(value: unknown, url: string): T;
  /** The hash of a body that is known already: an equal one is not parsed. It may be looked up while the request is under way. */
  knownHash?: string | Promise<string | undefined>;
  /** Tries after the first for this request. @default the client's own */
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
   * When the request was sent that this answers: that of the try that succeeded, behind its last redirect. What came out of a cache was
   * made earlier, and counts as if it had been asked for then.
   */
  sentAt: Date;
  /** When the last byte was here. */
  receivedAt: Date;
  /** The server's own clock, when it told. */
  serverDate: Date | null;
}

/** Asks the service, one request in and one parsed reply out, at the pace and with the patience of its options. */
export interface Client {
  readonly baseUrl: URL;
  /**
   * Fetches JSON from a path of the API. Throws `HttpStatusError`, `NetworkError`, `TimeoutError` or `UnexpectedShapeError` after all
   * retries, and the signal's reason when aborted. Once the host is lost (see `host-gate.ts`), requests under way and later ones fail at
   * once with one of the first three. Safe to repeat: every request is a GET.
   */
  fetchJson<T>(path: string, options: FetchOptions<T>): Promise<JsonReply<T>>;
  /** Requests sent, with retries, and body bytes received, since the client was made. */
  stats(): { requests: number; bytes: number };
  /** By how much the service's clock is ahead, after all replies so far that told a `Date`, refusals too; null when none did. */
  clockAhead(): ClockAhead | null;
  /** Ends every request, under way or waiting, with an error, and refuses later ones. May be called twice. */
  close(): Promise<void>;
}

export function createClient(options: ClientOptions): Client {
  const { baseUrl, clock, log, maxBodyBytes } = options;
  const agent = new Agent({
    connections: options.concurrency,
    connect: { timeout: options.timeoutMs },
    headersTimeout: options.timeoutMs,
    bodyTimeout: options.timeoutMs,
  });
  // The one queue that every request to the host passes.
  const queue = new PQueue({ concurrency: options.concurrency });
  const parseTurn = createTurnstile();
  const stats = { requests: 0, bytes: 0 };
  const clockDifference = createClockDifference();
  const closing = new AbortController();
  // Every request that is under way or waits listens to it.
  setMaxListeners(0, closing.signal);
  const gate = createHostGate({
    pace: options.pace ?? createHostPace(options),
    retries: options.retries,
    clock,
    signal: closing.signal,
    onWarning: (message) => options.onWarning?.(message),
  });

  /** One request and what it came to: a body, or the place that a redirect within the service leads to. */
  async function send(url: URL, signal: AbortSignal): Promise<Sent> {
    stats.requests += 1;
    const sentAt = clock.now();
    const reply = await request(url, {
      dispatcher: agent,
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
    // With an age it came out of a cache: it was dated, and what it shows was so, that long ago.
    const ageMs = cacheAgeMs(header("age"));
    if (serverDate && ageMs === 0) clockDifference.learn(serverDate, sentAt, clock.now());
    if (Number(header("content-length")) > maxBodyBytes) {
      reply.body.on("error", () => {}).destroy();
      throw new BodyTooLargeError(
        `the body of ${header("content-length")} bytes is longer than ${maxBodyBytes} bytes`,
      );
    }
    const raw = await readBody(reply.body, maxBodyBytes);
    stats.bytes += lengthOf(raw);
    const status = reply.statusCode;
    if (status >= 300 && status < 400 && status !== 304) {
      const location = header("location") ?? "";
      const isLink = location !== "" && URL.canParse(location, url.href);
      const redirect = isLink ? apiUrl(new URL(location, url).href, baseUrl) : null;
      return redirect ? { redirect } : refuseRedirect(url, `${status} to '${location.slice(0, 200)}'`);
    }
    const decoded = decodeBody(raw, header("content-encoding"), maxBodyBytes);
    if (status < 200 || status >= 300) {
      // What a refusal says only helps to tell what happened; its status counts, readable or not.
      const text = excerpt(Buffer.concat(await decoded.catch(() => [])));
      throw new HttpStatusError(`GET ${show(url)} answered ${status}${text}`, {
        url: show(url),
        status,
        hint: hintFor(status),
        // A date stands on the server's clock, which may be another than ours.
        retryAfterMs: parseRetryAfter(header("retry-after"), serverDate ?? clock.now()),
      });
    }
    return { redirect: null, body: await decoded, sentAt: new Date(sentAt.getTime() - ageMs), serverDate };
  }

  async function sendInTime(url: URL, signal: AbortSignal): Promise<Sent> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), options.timeoutMs);
    const either = linkSignals([signal, deadline.signal]);
    try {
      return await send(url, either.signal);
    } catch (error) {
      signal.throwIfAborted();
      throw toUpstreamError(error, url, deadline.signal.aborted ? options.timeoutMs : null);
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
    // Every request passes the gate, retries and redirects too; the time limit runs from then on.
    const ask = (place: URL) => gate.ask(() => sendInTime(place, signal), attemptNumber, signal);
    let sent = await ask(url);
    for (let redirects = 1; sent.redirect !== null; redirects++) {
      if (redirects > MAX_REDIRECTS) refuseRedirect(url, `with more than ${MAX_REDIRECTS} redirects`);
      sent = await ask(sent.redirect);
    }
    const { body, sentAt, serverDate } = sent;
    const receivedAt = clock.now();
    const hash = hashOf(body);
    const known = hash === (await fetchOptions.knownHash);
    if (!known) await parseTurn();
    // Outside what turns errors into upstream's: a bug in `parse` is no fault of the network.
    const value = known ? null : fetchOptions.parse(parseJson(Buffer.concat(body), show(url)), show(url));
    return { url: show(url), value, hash, bytes: lengthOf(body), sentAt, receivedAt, serverDate };
  }

  return {
    baseUrl,
    async fetchJson(path, fetchOptions) {
      const url = apiUrl(path, baseUrl);
      if (!url) {
        throw new UnexpectedShapeError(`'${path}' does not lead to the API below ${show(baseUrl)}`, {
          url: path,
          hint: "a link that leads elsewhere is never followed",
        });
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
    stats: () => ({ ...stats }),
    clockAhead: clockDifference.ahead,
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the client was closed"));
      await agent.destroy();
    },
  };
}

type Sent = { redirect: URL } | { redirect: null; body: Buffer[]; sentAt: Date; serverDate: Date | null };

function refuseRedirect(url: URL, answer: string): never {
  throw new UnexpectedShapeError(`GET ${show(url)} answered ${answer}, which is not followed`, {
    url: show(url),
    hint: "only redirects within the service itself are followed, and only three in a row",
  });
}

/** How old a reply was when it came, by its `Age` in seconds (RFC 9111), which may have been cut; 0 for none, a year at most. */
function cacheAgeMs(age: string | undefined): number {
  if (age === undefined || !/^\d+$/.test(age.trim()) || Number(age) === 0) return 0;
  return Math.min(Number(age) + 1, 366 * 86_400) * 1000;
}

/** URLs are shown without the credentials that the base URL may carry. */
function show(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return "give user and password within DOCMIRROR_BASE_URL";
  if (status === 429) return "the service limits requests: try again later, or lower DOCMIRROR_RATE";
  if (status >= 500) return "the service is in trouble, or this one page of it: try again later";
  return "the service refuses this request and will again; see what it says";
}

function authorization(baseUrl: URL): { authorization?: string } {
  if (baseUrl.username === "" && baseUrl.password === "") return {};
  const credentials = `${percentDecode(baseUrl.username)}:${percentDecode(baseUrl.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
}

/** A password may hold a bare percent sign, which the URL keeps as it is. */
function percentDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
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

/** The first words of a body that is no use, on one line and without control characters, to tell what answered. */
function excerpt(body: Buffer): string {
  const text = body
    .subarray(0, 400)
    .toString("utf8")
    .replace(/[\p{Cc}\s]+/gu, " ")
    .trim();
  return text === "" ? " with an empty body" : `: ${text.slice(0, 120)}`;
}

function toUpstreamError(error: unknown, url: URL, timeoutMs: number | null): UpstreamError | MirrorError {
  if (error instanceof MirrorError) return error;
  const facts = { url: show(url), cause: error };
  if (timeoutMs !== null)
    return new TimeoutError(`GET ${show(url)} was not answered within ${timeoutMs} ms`, facts);
  if (error instanceof BodyTooLargeError) {
    const hint = "raise DOCMIRROR_MAX_BODY_MB or lower DOCMIRROR_PAGE_SIZE";
    return new UnexpectedShapeError(`GET ${show(url)}: ${error.message}`, { ...facts, hint });
  }
  if (error instanceof UndecodableBodyError) {
    return new UnexpectedShapeError(
      `GET ${show(url)} answered with an unusable body: ${error.message}`,
      facts,
    );
  }
  const reason = error instanceof AggregateError ? error.errors[0] : error;
  const text = reason instanceof Error ? reason.message : String(reason);
  if (
    error instanceof errors.ConnectTimeoutError ||
    error instanceof errors.HeadersTimeoutError ||
    error instanceof errors.BodyTimeoutError
  ) {
    return new TimeoutError(`GET ${show(url)} timed out: ${text}`, facts);
  }
  return new NetworkError(`GET ${show(url)} got no answer: ${text}`, {
    ...facts,
    hint: isUntrusted(reason) ? TRUST_HINT : "check DOCMIRROR_BASE_URL and that the service is up",
  });
}

const TRUST_HINT =
  "the service's certificate is not trusted; if an authority of your own signed it, name its file in NODE_EXTRA_CA_CERTS";

/** Whether a connection failed since nobody vouches for who answered, by OpenSSL's and Node's codes. */
function isUntrusted(reason: unknown): boolean {
  const code = (reason as { code?: unknown } | null)?.code;
  return typeof code === "string" && /CERT|VERIFY/.test(code);
}
