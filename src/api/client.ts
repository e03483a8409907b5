import { createHash } from "node:crypto";
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
import { ACCEPT_ENCODING, BodyTooLargeError, decodeBody, readBody } from "./body.ts";
import { createRequestQueue } from "./request-queue.ts";
import { withRetries } from "./retry.ts";
import { parseRetryAfter } from "./retry-after.ts";

const MAX_REDIRECTS = 3;

export interface ClientOptions {
  baseUrl: URL;
  concurrency: number;
  /** Requests a second; 0 for no limit. */
  ratePerSecond: number;
  timeoutMs: number;
  retries: number;
  maxBodyBytes: number;
  clock: Clock;
  log: Logger;
  signal?: AbortSignal;
}

export interface FetchOptions<T> {
  /** Turns the parsed JSON into what is wanted, or throws `UnexpectedShapeError`; a reply that fails is asked for again. */
  parse(value: unknown, url: string): T;
  /** The hash of a body that is known already: an equal one is not parsed. */
  knownHash?: string;
  signal?: AbortSignal;
}

export interface JsonReply<T> {
  url: string;
  /** Null when the body has the known hash. */
  value: T | null;
  /** SHA-256 of the body, hex. */
  hash: string;
  bytes: number;
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
   * retries, and the signal's reason when aborted. Safe to repeat: every request is a GET.
   */
  fetchJson<T>(path: string, options: FetchOptions<T>): Promise<JsonReply<T>>;
  /** Requests sent, with retries, and body bytes received, since the client was made. */
  stats(): { requests: number; bytes: number };
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
  const queue = createRequestQueue(options);
  const stats = { requests: 0, bytes: 0 };

  async function send(url: URL, signal: AbortSignal): Promise<{ body: Buffer; serverDate: Date | null }> {
    let target = url;
    for (let redirects = 0; ; redirects++) {
      stats.requests += 1;
      const reply = await request(target, {
        dispatcher: agent,
        signal,
        headers: {
          accept: "application/json",
          "accept-encoding": ACCEPT_ENCODING,
          ...authorization(baseUrl),
        },
      });
      const header = (name: string) => [reply.headers[name]].flat()[0];
      const raw = await readBody(reply.body, maxBodyBytes);
      stats.bytes += raw.length;
      const status = reply.statusCode;
      if (status >= 300 && status < 400 && status !== 304) {
        const location = header("location") ?? "";
        const next = URL.canParse(location, target.href)
          ? apiUrl(new URL(location, target).href, baseUrl)
          : null;
        if (!next || redirects >= MAX_REDIRECTS) {
          throw new UnexpectedShapeError(
            `GET ${show(target)} answered ${status} to '${location}', which is not followed`,
            {
              url: show(target),
              hint: "only redirects within the service itself are followed, and only three in a row",
            },
          );
        }
        target = next;
        continue;
      }
      const body = await decodeBody(raw, header("content-encoding"), maxBodyBytes);
      if (status < 200 || status >= 300) {
        throw new HttpStatusError(`GET ${show(target)} answered ${status}${excerpt(body)}`, {
          url: show(target),
          status,
          retryAfterMs: parseRetryAfter(header("retry-after"), clock.now()),
        });
      }
      const date = Date.parse(header("date") ?? "");
      return { body, serverDate: Number.isNaN(date) ? null : new Date(date) };
    }
  }

  async function attempt<T>(url: URL, fetchOptions: FetchOptions<T>): Promise<JsonReply<T>> {
    const outer = [options.signal, fetchOptions.signal].filter((signal) => signal !== undefined);
    const deadline = createDeadline(options.timeoutMs, outer);
    try {
      const { body, serverDate } = await send(url, deadline.signal);
      const receivedAt = clock.now();
      const hash = createHash("sha256").update(body).digest("hex");
      const known = hash === fetchOptions.knownHash;
      const value = known ? null : fetchOptions.parse(parseJson(body, show(url)), show(url));
      return { url: show(url), value, hash, bytes: body.length, receivedAt, serverDate };
    } catch (error) {
      for (const signal of outer) signal.throwIfAborted();
      throw toUpstreamError(error, url, deadline.passed() ? options.timeoutMs : null);
    } finally {
      deadline.release();
    }
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
      const signal = fetchOptions.signal ?? options.signal;
      return withRetries(() => queue.add(() => attempt(url, fetchOptions), signal ? { signal } : {}), {
        retries: options.retries,
        clock,
        signal,
        onRetry: (error, attemptNumber, waitMs) =>
          log.warn({ attempt: attemptNumber, waitMs, error: error.message }, "request failed, trying again"),
      });
    },
    stats: () => ({ ...stats }),
    async close() {
      queue.clear();
      await agent.destroy();
    },
  };
}

/** URLs are shown without the credentials that the base URL may carry. */
function show(url: URL): string {
  return `${url.origin}${url.pathname}${url.search}`;
}

function authorization(baseUrl: URL): { authorization?: string } {
  if (baseUrl.username === "") return {};
  const credentials = `${decodeURIComponent(baseUrl.username)}:${decodeURIComponent(baseUrl.password)}`;
  return { authorization: `Basic ${Buffer.from(credentials).toString("base64")}` };
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
    hint: "check DOCMIRROR_BASE_URL and that the service is up",
  });
}

/** One signal for a time limit and all that may abort earlier. Long-lived signals are let go of when the request is over. */
function createDeadline(timeoutMs: number, outer: AbortSignal[]) {
  const controller = new AbortController();
  let passed = false;
  const timer = setTimeout(() => {
    passed = true;
    controller.abort();
  }, timeoutMs);
  const abort = () => controller.abort();
  for (const signal of outer) {
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort, { once: true });
  }
  return {
    signal: controller.signal,
    passed: () => passed,
    release: () => {
      clearTimeout(timer);
      for (const signal of outer) signal.removeEventListener("abort", abort);
    },
  };
}
