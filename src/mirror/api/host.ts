import PQueue from "p-queue";
import type { Clock, ClockAhead } from "../../base/clock.ts";
import { findProxyRoute } from "../../base/config/proxies.ts";
import type { Config } from "../../base/config.ts";
import {
  attachReply,
  NetworkError,
  type Reply,
  UnexpectedShapeError,
  UpstreamError,
  type WrongAddressError,
} from "../../base/errors.ts";
import type { RequestLabel } from "../../base/metrics/labels.ts";
import type { RequestMeter } from "../../base/metrics/meters.ts";
import { userAgentOf } from "../../base/version.ts";
import { ACCEPT_ENCODING, BodyTooLargeError, decodeBody, readBody } from "./body.ts";
import type { Fetch, RequestNotice } from "./fetch.ts";
import { createHostGate } from "./host-gate.ts";
import { createHostPace, type HostPace } from "./host-pace.ts";
import { withSignals } from "./link-signals.ts";
import { createLoginHider, loginOf } from "./logins.ts";
import { cacheAgeMs, createClockDifference, parseHttpDate, parseRetryAfter } from "./reply-times.ts";
import { withRetries } from "./retry.ts";
import { createTransport, type RawReply, transportOf } from "./transport.ts";
import {
  answerOf,
  COMMAND_WORDING,
  excerpt,
  type Redirect,
  shownBody,
  showUrl,
  statusError,
  tooManyRedirects,
  toUpstreamError,
  type Wording,
} from "./upstream-errors.ts";

const MAX_REDIRECTS = 3;

/** Requests ask for pages of lists, the root listing, schemas, single records, and those that others refer to. */
export type RequestKind = "pages" | "root" | "schemas" | "details" | "references";

/** The part of a log that retries are written to. `wait_ms` is null when all requests are held back. */
interface RetryLog {
  info(facts: { attempt: number; wait_ms: number | null; error: string }, message: string): void;
}

export interface HostSettings
  extends Pick<
    Config,
    "ratePerSecond" | "concurrency" | "timeoutMs" | "retries" | "maxBodyBytes" | "proxies"
  > {
  contact?: string | null;
  mostRetries?: number;
  /** Sent with every request, by names in lower case. They replace those that the client sends itself. @default none */
  headers?: Readonly<Record<string, string>>;
  /** Sends the requests in place of our own connections, without `proxies`. */
  fetch?: Fetch | undefined;
  /** @default that of the command */
  wording?: Wording;
  /** The pace that all clients of the host share. It replaces `ratePerSecond`. @default the host's own */
  pace?: HostPace;
  clock: Clock;
  /** Hears of each retry. The program's log is one. */
  log: RetryLog;
  signal?: AbortSignal | undefined;
  onWarning?: ((message: string) => void) | undefined;
  onRequest?: ((notice: RequestNotice) => void) | undefined;
  /** Counts the requests. @default nothing does */
  meter?: RequestMeter | undefined;
}

interface HostPlace {
  baseUrl: URL;
  /** The cheapest address of the host. It is asked when the host may be away. */
  rootUrl: URL;
  mayBeCached?: boolean;
  accept: string;
  /** The address to ask next, or why it is not followed. */
  follow(redirect: Redirect): URL | WrongAddressError;
  /** The longest body that is read, where the settings allow more. @default theirs */
  maxBodyBytes?: number;
  labelOf(url: URL): RequestLabel;
}

/** A header of a reply by its name in lower case; the first one where there are several. */
type ReadHeader = (name: string) => string | undefined;

/** `retries`, `timeoutMs` and `log` are the host's own by default; `mostRetries` limits the first. */
export interface HostRequest<T> {
  /** Only for the count of requests. @default "pages" */
  kind?: RequestKind;
  headers?: Readonly<Record<string, string>> | undefined;
  retries?: number | undefined;
  timeoutMs?: number | undefined;
  /** Among waiting requests, those with a higher one are sent first. @default 0 */
  priority?: number;
  signal?: AbortSignal | undefined;
  log?: RetryLog;
  /** A value other than undefined is the answer: the body is not read, and any status will do. */
  answerEarly?(status: number, header: ReadHeader): T | undefined;
  /** Reads the reply. Throws for a bad one; `withRetries` decides whether to ask again. */
  read(reply: HostReply): T | Promise<T>;
}

/** A whole reply with a status of 2xx, unpacked. */
export interface HostReply {
  url: URL;
  body: Buffer[];
  header: ReadHeader;
  reply: Reply;
  hide(text: string): string;
  /** The moment at which the last try was sent, after its last redirect; for a reply of a cache, at which that got it. */
  sentAt: Date;
  receivedAt: Date;
  /** The time of the last try until its last byte, without what this process itself was at work meanwhile. */
  tookMs: number;
  serverDate: Date | null;
}

/** Requests to one host at a steady pace, with retries, redirects, time limits and a limit of size. */
export interface Host {
  /** Sends a GET. Throws as `Client.fetchJson` does. */
  ask<T>(url: URL, question: HostRequest<T>): Promise<T>;
  /** The root answers now: for callers whose page keeps failing. Rejects on a signal, or when closed. */
  isUp(signal?: AbortSignal): Promise<boolean>;
  /** Aborted when the host is lost (`host-gate.ts`). */
  readonly lost: AbortSignal;
  /** Requests sent, retries included, and body bytes received, since the start. */
  stats(): { requests: number; bytes: number };
  /** The requests sent, by kind. */
  askedFor(): Record<RequestKind, number>;
  /** The time by which the host's clock is ahead, from the `Date` headers of all replies so far, or null. */
  clockAhead(): ClockAhead | null;
  /** When the certificate of the host ends, as its newest connection showed it. Null without one that is trusted. */
  certificateEnd(): Date | null;
  /** Fails every request, running or waiting, and every later one. May be called twice. */
  close(): Promise<void>;
}

type Question<T> = Omit<HostRequest<T>, "read">;

type Sent<T> =
  | { kind: "redirect"; target: URL; status: number; reply: Reply; body: unknown }
  | { kind: "answer"; value: T; status: number; ageMs: number }
  | { kind: "reply"; reply: HostReply; status: number; ageMs: number };

export function createHost(settings: HostSettings, place: HostPlace): Host {
  const { clock, log, meter, concurrency, mostRetries = settings.retries } = settings;
  const wording = settings.wording ?? COMMAND_WORDING;
  const { baseUrl, rootUrl, labelOf } = place;
  const maxBodyBytes = Math.min(settings.maxBodyBytes, place.maxBodyBytes ?? settings.maxBodyBytes);
  let certificateEnd: Date | null = null;
  const login = loginOf(baseUrl);
  const userAgent = settings.headers?.["user-agent"] ?? userAgentOf(settings.contact);
  const route = findProxyRoute(baseUrl, settings.proxies);
  const transport = settings.fetch
    ? transportOf(settings.fetch)
    : createTransport({
        proxy: route.proxy,
        connections: concurrency,
        timeoutMs: settings.timeoutMs,
        onCertificate(endsAt) {
          certificateEnd = endsAt;
        },
      });
  // Every request to the host passes this queue.
  const queue = new PQueue({ concurrency });
  const stats = { requests: 0, bytes: 0 };
  const askedFor = { pages: 0, root: 0, schemas: 0, details: 0, references: 0 };
  let inFlight = 0;
  // A request that has a place in the queue may still wait for the rate.
  const leaveMeter = meter?.watchQueue(() => {
    return { waiting: Math.max(0, queue.size + queue.pending - inFlight), running: inFlight };
  });
  const clockDifference = createClockDifference();
  const closing = new AbortController();
  const gate = createHostGate({
    pace: settings.pace ?? createHostPace(settings),
    retries: settings.retries,
    clock,
    probe,
    whenLost: wording.whenLost,
    signal: closing.signal,
    onWarning: (message) => settings.onWarning?.(message),
  });

  async function probe(): Promise<void> {
    const sent = await sendInTime(rootUrl, { kind: "root" }, closing.signal);
    if (sent.kind === "reply") meter?.answered(labelOf(rootUrl), sent.status);
    if (sent.kind === "redirect" || sent.ageMs === 0 || place.mayBeCached === true) return;
    const shown = showUrl(rootUrl);
    throw new NetworkError(`GET ${shown} was answered by a cache, not by the service`, { url: shown });
  }

  async function send<T>(url: URL, question: Question<T>, signal: AbortSignal): Promise<Sent<T>> {
    const given = { ...settings.headers, ...question.headers };
    stats.requests += 1;
    askedFor[question.kind ?? "pages"] += 1;
    const sentAt = clock.now();
    const workBefore = performance.eventLoopUtilization();
    const raw = await transport.send(url, {
      signal,
      headers: {
        accept: place.accept,
        "user-agent": userAgent,
        ...(!transport.unpacks && { "accept-encoding": ACCEPT_ENCODING }),
        ...(login !== null && { authorization: login }),
        ...given,
      },
    });
    const { status, drop } = raw;
    const header = (name: string) => [raw.headers[name]].flat()[0];
    const serverDate = parseHttpDate(header("date"));
    // A reply with an age comes from a cache. Its date and its content are that old.
    const ageMs = cacheAgeMs(header("age"));
    if (serverDate && ageMs === 0) clockDifference.learn(serverDate, sentAt, clock.now());
    const early = question.answerEarly?.(status, header);
    if (early !== undefined) {
      drop();
      return { kind: "answer", value: early, status, ageMs };
    }
    const told = header("content-length");
    if (Number(told) > maxBodyBytes) {
      drop();
      throw new BodyTooLargeError(`the body of ${told} bytes is longer than ${maxBodyBytes} bytes`);
    }
    const askedAt = new Date(sentAt.getTime() - ageMs);
    const packed = await readBody(raw.body, maxBodyBytes);
    stats.bytes += byteLengthOf(packed);
    const reply = describeReply(url, raw);
    const hide = createLoginHider([baseUrl, route.proxy], given);
    const encoding = transport.unpacks ? undefined : [raw.headers["content-encoding"] ?? []].flat().join(",");
    const decoded = decodeBody(packed, encoding, maxBodyBytes);
    if (status < 200 || status >= 300) {
      const text = Buffer.concat(await decoded.catch(() => []));
      const shown = shownBody(text, hide);
      if (status >= 300 && status < 400 && status !== 304) {
        const location = header("location") ?? "";
        // An empty one would be the same address again.
        const isLink = location !== "" && URL.canParse(location, url.href);
        const target = isLink ? new URL(location, url) : null;
        const next = place.follow({ from: url, status, location, target, hide });
        if (next instanceof URL) return { kind: "redirect", target: next, status, reply, body: shown };
        throw attachReply(next, reply, shown);
      }
      const source = "authorization" in given ? "header" : login === null ? null : "baseUrl";
      // A date is on the server's clock, which may differ from ours.
      const retryAfterMs = parseRetryAfter(header("retry-after"), serverDate ?? clock.now());
      const facts = { status, retryAfterMs, login: source, askedAt, observedAt: clock.now() } as const;
      const error = statusError(url, { ...facts, words: excerpt(text, hide), nameOf: wording.nameOf });
      throw attachReply(error, reply, shown);
    }
    const body = await decoded;
    const receivedAt = clock.now();
    const { active } = performance.eventLoopUtilization(workBefore);
    const tookMs = Math.max(0, receivedAt.getTime() - sentAt.getTime() - active);
    const times = { sentAt: askedAt, receivedAt, tookMs, serverDate };
    return { kind: "reply", reply: { url, body, header, reply, hide, ...times }, status, ageMs };
  }

  /** The meter has counted the request when this ends, unless it gives a reply that is still to be read. */
  async function sendInTime<T>(url: URL, question: Question<T>, signal: AbortSignal): Promise<Sent<T>> {
    const deadline = new AbortController();
    const timeoutMs = question.timeoutMs ?? settings.timeoutMs;
    const timer = setTimeout(() => deadline.abort(), timeoutMs);
    const from = performance.now();
    let status: number | null = null;
    inFlight += 1;
    try {
      const sent = await withSignals([signal, deadline.signal], (either) => send(url, question, either));
      status = sent.status;
      if (sent.kind !== "reply") meter?.answered(labelOf(url), status);
      return sent;
    } catch (reason) {
      if (signal.aborted) {
        meter?.answered(labelOf(url), "stopped");
        throw signal.reason;
      }
      const facts = { timeoutMs: deadline.signal.aborted ? timeoutMs : null, nameOf: wording.nameOf, route };
      const error = toUpstreamError(reason, url, facts);
      if (error instanceof UpstreamError) status = error.reply?.status ?? null;
      meter?.answered(labelOf(url), answerOf(error));
      throw error;
    } finally {
      inFlight -= 1;
      const tookMs = performance.now() - from;
      meter?.took(labelOf(url), tookMs / 1000);
      settings.onRequest?.({ url: showUrl(url), status, tookMs });
      clearTimeout(timer);
    }
  }

  async function attempt<T>(url: URL, question: HostRequest<T>, number: number, signal: AbortSignal) {
    // Every request passes the gate, retries and redirects too. The time limit starts after the gate.
    const askOnce = (place: URL) => {
      const from = performance.now();
      const send = () => {
        meter?.waited((performance.now() - from) / 1000);
        return sendInTime(place, question, signal);
      };
      return gate.ask(send, number, signal);
    };
    let sent = await askOnce(url);
    for (let redirects = 1; sent.kind === "redirect"; redirects++) {
      if (redirects > MAX_REDIRECTS) {
        const setsCookie = sent.reply.headers["set-cookie"] !== undefined;
        throw attachReply(tooManyRedirects(url, MAX_REDIRECTS, setsCookie), sent.reply, sent.body);
      }
      sent = await askOnce(sent.target);
    }
    if (sent.kind === "answer") return sent.value;
    // Not inside `sendInTime`, so that a bug in `read` is not reported as a network error.
    const { reply, status } = sent;
    try {
      const value = await question.read(reply);
      meter?.answered(labelOf(reply.url), status);
      return value;
    } catch (error) {
      meter?.answered(labelOf(reply.url), error instanceof UnexpectedShapeError ? "shape" : status);
      throw error;
    }
  }

  return {
    ask(url, question) {
      return withSignals([closing.signal, settings.signal, question.signal, gate.lost], (signal) => {
        const options = { signal, priority: question.priority ?? 0 };
        const oneTry = (number: number) => queue.add(() => attempt(url, question, number, signal), options);
        return withRetries(oneTry, {
          retries: Math.min(question.retries ?? settings.retries, mostRetries),
          clock,
          signal,
          onRetry(error, attemptNumber, waitMs) {
            meter?.retried(answerOf(error));
            const facts = { attempt: attemptNumber, wait_ms: waitMs, error: error.message };
            (question.log ?? log).info(facts, "request failed, trying again");
          },
        });
      });
    },
    isUp: (signal) => withSignals([closing.signal, settings.signal, signal], gate.isUp),
    lost: gate.lost,
    stats: () => ({ ...stats }),
    askedFor: () => ({ ...askedFor }),
    clockAhead: clockDifference.ahead,
    certificateEnd: () => certificateEnd,
    async close() {
      if (closing.signal.aborted) return;
      closing.abort(new Error("the client was closed"));
      leaveMeter?.();
      await transport.close();
    },
  };
}

function describeReply(url: URL, { status, headers }: RawReply): Reply {
  const joined = Object.entries(headers).map(([name, value]) => [name, [value].flat().join(", ")]);
  const found: Reply["headers"] = Object.fromEntries(joined);
  return { url: showUrl(url), status, headers: found, requestId: found["x-request-id"] ?? null };
}

export function byteLengthOf(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}
