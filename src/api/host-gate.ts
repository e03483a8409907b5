/**
 * When the host may be asked, for all requests together: not faster than its pace, not while it asks to wait, and not while it fails.
 *
 *   closed ──5 failed rounds──▶ paused ──30 s, then 60 s──▶ half-open: one request is sent as the probe, all others wait
 *     ▲                           ▲                             │  │
 *     │                           └───────the probe fails───────┘  └──it fails after the last pause──▶ lost
 *     └──── any answer, also a late one to an earlier request
 *
 * A round is a failure together with those of all requests that were under way when it came: they tell the same. 429 and 503 hold
 * all requests back besides, each for as long as it asks. That outlasts the gate, which belongs to one run: the pace keeps it.
 *
 * A request may keep its place in the client's queue while it waits here: as long as the gate is shut, nobody could use that
 * place, and when it opens, the probe is one of those that have one.
 */
import { EventEmitter, once, setMaxListeners } from "node:events";
import type { Clock } from "../clock.ts";
import {
  HttpStatusError,
  isUpstreamLost,
  NetworkError,
  TimeoutError,
  type UpstreamError,
} from "../errors.ts";
import type { Hold, HostPace } from "./host-pace.ts";
import { isRefusal, MAX_RETRY_AFTER_MS, retryWaitMs } from "./retry.ts";

/** Failed rounds in a row after which the host is left alone. */
const MAX_FAILED_ROUNDS = 5;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSES = 2;
/** Shorter holds are daily business and are not told. */
const TOLD_HOLD_MS = 5000;
const YEAR_MS = 365 * 86_400_000;

export interface HostGateOptions {
  /** The host's, which other gates may share, one after the other or at once. */
  pace: HostPace;
  /** Tries of a request after its first. The host is lost after so many pauses, at most 2; with 0 it is lost without any. */
  retries: number;
  clock: Clock;
  /** Ends the waits that belong to no request. */
  signal: AbortSignal;
  /** Told of each pause as it begins, and of each time of more than 5 s in which 429 or 503 held requests back. */
  onWarning(message: string): void;
  /** @default Math.random */
  random?: () => number;
}

export interface HostGate {
  /**
   * Sends as soon as the host may be asked, and learns from what came of it. `attempt` counts the tries of the request from 1. Rejects
   * as `send` does, or with the reason of the signal, which should be linked to `lost`.
   */
  ask<T>(send: () => Promise<T>, attempt: number, signal: AbortSignal): Promise<T>;
  /**
   * Aborted when nothing is to be hoped from the host; the reason is the error of every request from then on. It is of the last failure's
   * class.
   */
  readonly lost: AbortSignal;
}

type Breaker = { is: "closed" } | { is: "paused" } | { is: "half-open"; probe: object | null };

export function createHostGate(options: HostGateOptions): HostGate {
  const { pace, clock } = options;
  const maxPauses = Math.min(MAX_PAUSES, options.retries);
  const lost = new AbortController();
  // Every request listens to it.
  setMaxListeners(0, lost.signal);
  const changes = new EventEmitter().setMaxListeners(0);
  let breaker: Breaker = { is: "closed" };
  let pauses = 0;
  let failedInARow = 0;
  let round = 0;
  let isHeld = false;
  // A host that never answered is given up by the retries alone, so that a wrong base URL fails soon.
  let hasAnswered = false;

  /** Whether a request may go now; the first to ask when a probe is due becomes the probe. */
  function admits(request: object): boolean {
    heed();
    if (isHeld || breaker.is === "paused" || lost.signal.aborted) return false;
    if (breaker.is === "closed") return true;
    breaker.probe ??= request;
    return breaker.probe === request;
  }

  async function nextChange(signal: AbortSignal): Promise<void> {
    try {
      await once(changes, "change", { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  function turnTo(next: Breaker): void {
    breaker = next;
    changes.emit("change");
  }

  function noteAnswer(): void {
    hasAnswered = true;
    failedInARow = 0;
    pauses = 0;
    pace.ease();
    if (breaker.is !== "closed") turnTo({ is: "closed" });
  }

  function noteFailure(error: UpstreamError, isNewRound: boolean, attempt: number): void {
    if (isRefusal(error)) {
      pace.hold(retryWaitMs(error, attempt, options.random), error);
      if (isNewRound) pace.slow();
      heed();
    }
    if (!isNewRound || lost.signal.aborted) return;
    round += 1;
    failedInARow += 1;
    if (!hasAnswered || failedInARow < MAX_FAILED_ROUNDS) return;
    if (pauses < maxPauses) pause(error).catch(() => {});
    else lose(error, `the service is left alone since ${failedInARow} requests in a row failed; the last`);
  }

  /** Shuts the gate while the pace holds, whichever run brought that about; what is too long to sleep through ends this one. */
  function heed(): void {
    const hold = pace.held();
    if (!hold) return;
    if (!isBearable(hold)) lose(hold.refusal, `the service asks to be left alone ${inFull(hold)}`);
    else if (!isHeld) sleepThrough(hold).catch(() => {});
  }

  async function sleepThrough(first: Hold): Promise<void> {
    isHeld = true;
    const since = clock.now().getTime();
    let last = first;
    for (let hold: Hold | null = first; hold && isBearable(hold); hold = pace.held()) {
      await clock.sleep(hold.leftMs(), options.signal);
      pace.release(hold);
      last = hold;
    }
    isHeld = false;
    const heldMs = clock.now().getTime() - since;
    if (heldMs > TOLD_HOLD_MS) {
      const { status } = last.refusal;
      options.onWarning(`requests were held back for ${inWords(heldMs)}: the service answered ${status}`);
    }
    changes.emit("change");
  }

  async function pause(error: UpstreamError): Promise<void> {
    const pauseMs = FIRST_PAUSE_MS * 2 ** pauses;
    pauses += 1;
    const mine: Breaker = { is: "paused" };
    turnTo(mine);
    options.onWarning(
      `the service was left alone for ${inWords(pauseMs)} after ${failedInARow} failures in a row: ${error.message}`,
    );
    await clock.sleep(pauseMs, options.signal);
    // A late answer may have ended this pause already.
    if (breaker === mine) turnTo({ is: "half-open", probe: null });
  }

  function lose(error: UpstreamError, why: string): void {
    lost.abort(retell(error, `${why}: ${error.message}`));
  }

  return {
    lost: lost.signal,
    async ask(send, attempt, signal) {
      const request = {};
      try {
        do {
          while (!admits(request)) await nextChange(signal);
          await pace.turn(signal);
          signal.throwIfAborted();
          // The gate may have been shut while this one waited for its turn. From here on nothing comes between.
        } while (!admits(request));
        const sentIn = round;
        try {
          const reply = await send();
          noteAnswer();
          return reply;
        } catch (error) {
          // Whoever stops a request learns nothing of the host.
          signal.throwIfAborted();
          if (!isUpstreamLost(error)) noteAnswer();
          else noteFailure(error as UpstreamError, sentIn === round, attempt);
          signal.throwIfAborted();
          throw error;
        }
      } finally {
        if (breaker.is === "half-open" && breaker.probe === request) turnTo({ is: "half-open", probe: null });
      }
    },
  };
}

/** The same failure in other words: what is done about it hangs on its class. */
function retell(error: UpstreamError, message: string): UpstreamError {
  const facts = {
    url: error.url,
    cause: error,
    hint: "try again later: what was read is kept, and the next run goes on from there",
  };
  if (error instanceof HttpStatusError) {
    const { status, retryAfterMs } = error;
    return new HttpStatusError(message, { ...facts, status, retryAfterMs });
  }
  return error instanceof TimeoutError ? new TimeoutError(message, facts) : new NetworkError(message, facts);
}

function isBearable(hold: Hold): boolean {
  return hold.leftMs() <= MAX_RETRY_AFTER_MS;
}

/** How long a hold lasts yet and, unless it is too far away to have a date, when it is over. */
function inFull(hold: Hold): string {
  const leftMs = hold.leftMs();
  if (leftMs > YEAR_MS) return `for ${inWords(leftMs)}`;
  const over = new Date(Math.ceil(hold.untilMs / 1000) * 1000);
  return `for ${inWords(leftMs)}, until ${over.toISOString().replace(".000", "")}`;
}

/** A time as people tell it; servers ask for as much as 10^20 seconds. */
function inWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} minutes`;
  if (seconds * 1000 <= YEAR_MS) return `${Math.round(seconds / 3600)} hours`;
  return "more than a year";
}
