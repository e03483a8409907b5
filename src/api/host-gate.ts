/**
 * When the host may be asked, for all requests together: not faster than its pace, not while it asks to wait, and not while it is away.
 *
 *   open ──5 failed rounds──▶ in doubt: the API's root is asked, all others wait
 *     ▲                         │  ▲
 *     │                         │  └──30 s, then 60 s──┐
 *     ├──the root answers───────┤                      │
 *     │                         └──it does not──▶ left alone ──after the last pause──▶ lost
 *     └──any other answer, also a late one to an earlier request
 *
 * A round is a failure together with those of all requests that were under way when it came: they have one cause. One record or page
 * that always fails is no reason to give the host up, and so only the root decides. It is the cheapest page, and all services of this
 * kind have it.
 *
 * 429 and 503 hold all requests back besides, each for as long as it asks. That outlasts the gate, which belongs to one run: the pace
 * keeps it.
 *
 * A request may keep its place in the client's queue while it waits here: as long as the gate is shut, nobody could use that place.
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
import { linkSignals } from "./link-signals.ts";
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
  /** Tries of a request after its first. The host is lost after as many pauses, at most 2; with 0 it is lost without any. */
  retries: number;
  clock: Clock;
  /**
   * Asks the API's root once, past the gate. Rejects as a request does. An answer out of a cache must reject too: it says nothing of the
   * host.
   */
  probe(): Promise<unknown>;
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
  /** Whether the root answers now. False once the host is lost. Rejects with the signal's reason. */
  isUp(signal: AbortSignal): Promise<boolean>;
  /** Aborted when the host is given up; the reason is the error of every request from then on. It is of the last failure's class. */
  readonly lost: AbortSignal;
}

export function createHostGate(options: HostGateOptions): HostGate {
  const { pace, clock } = options;
  const maxPauses = Math.min(MAX_PAUSES, options.retries);
  const lost = new AbortController();
  // Every request listens to it.
  setMaxListeners(0, lost.signal);
  const changes = new EventEmitter().setMaxListeners(0);
  /** Aborted when the doubt is over; null while there is none. */
  let doubt: AbortController | null = null;
  let probing: Promise<UpstreamError | null> | null = null;
  let failedInARow = 0;
  let round = 0;
  let isHeld = false;
  // A host that never answered is given up by the retries alone, so that a wrong base URL fails soon.
  let hasAnswered = false;

  function isOpen(): boolean {
    obeyHold();
    return !isHeld && doubt === null && !lost.signal.aborted;
  }

  async function nextChange(signal: AbortSignal): Promise<void> {
    try {
      await once(changes, "change", { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  function noteAnswer(): void {
    hasAnswered = true;
    failedInARow = 0;
    pace.ease();
    if (doubt === null) return;
    doubt.abort();
    doubt = null;
    changes.emit("change");
  }

  function noteFailure(error: UpstreamError, isNewRound: boolean, attempt: number): void {
    if (isRefusal(error)) {
      pace.hold(retryWaitMs(error, attempt, options.random), error);
      if (isNewRound) pace.slow();
      obeyHold();
    }
    if (!isNewRound || lost.signal.aborted) return;
    round += 1;
    failedInARow += 1;
    const isDoubtful = hasAnswered && failedInARow >= MAX_FAILED_ROUNDS;
    // What it rejects with is the end of the doubt or of the run.
    if (isDoubtful && doubt === null) examine(error).catch(() => {});
  }

  /** Finds out whether the host is still there, and gives it up when it is not. Rejects when the doubt is over or the run is. */
  async function examine(cause: UpstreamError): Promise<void> {
    const mine = new AbortController();
    doubt = mine;
    const { signal, release } = linkSignals([mine.signal, options.signal, lost.signal]);
    let error = cause;
    try {
      for (let pauses = 0; ; pauses++) {
        const failure = await probe(signal);
        signal.throwIfAborted();
        if (failure === null) return noteAnswer();
        error = failure;
        failedInARow += 1;
        if (pauses >= maxPauses) {
          return lose(
            error,
            `the service is left alone since ${failedInARow} requests in a row failed; the last`,
          );
        }
        const pauseMs = FIRST_PAUSE_MS * 2 ** pauses;
        options.onWarning(
          `the service was left alone for ${inWords(pauseMs)} after ${failedInARow} failures in a row: ${error.message}`,
        );
        await clock.sleep(pauseMs, signal);
      }
    } finally {
      release();
    }
  }

  /** Asks the root as soon as nothing holds requests back; null when the host answers, whatever it says. All who ask share one answer. */
  async function probe(signal: AbortSignal): Promise<UpstreamError | null> {
    do {
      while (isHeld) await nextChange(signal);
      await pace.turn(signal);
    } while (isHeld);
    signal.throwIfAborted();
    probing ??= askRoot().finally(() => {
      probing = null;
    });
    return probing;
  }

  async function askRoot(): Promise<UpstreamError | null> {
    try {
      await options.probe();
      return null;
    } catch (error) {
      options.signal.throwIfAborted();
      if (!isUpstreamLost(error)) return null;
      if (isRefusal(error)) {
        pace.hold(retryWaitMs(error, 1, options.random), error);
        obeyHold();
      }
      return error as UpstreamError;
    }
  }

  /** Shuts the gate while the pace holds, whichever run brought that about; what is too long to sleep through ends this one. */
  function obeyHold(): void {
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

  function lose(error: UpstreamError, why: string): void {
    lost.abort(retell(error, `${why}: ${error.message}`));
    changes.emit("change");
  }

  return {
    lost: lost.signal,
    async ask(send, attempt, signal) {
      do {
        while (!isOpen()) await nextChange(signal);
        await pace.turn(signal);
        signal.throwIfAborted();
        // The gate may have been shut while this one waited for its turn. From here on nothing comes between.
      } while (!isOpen());
      const sentIn = round;
      try {
        const reply = await send();
        noteAnswer();
        return reply;
      } catch (error) {
        // A request that was stopped says nothing of the host.
        signal.throwIfAborted();
        if (!isUpstreamLost(error)) noteAnswer();
        else noteFailure(error as UpstreamError, sentIn === round, attempt);
        signal.throwIfAborted();
        throw error;
      }
    },
    async isUp(signal) {
      while (!isOpen() && !lost.signal.aborted) await nextChange(signal);
      return !lost.signal.aborted && (await probe(signal)) === null;
    },
  };
}

/** The same failure in other words. Its class stays, for the caller acts by it. */
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
