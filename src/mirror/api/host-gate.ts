/**
 * Decides when the host may be asked, for all requests together: not faster than the pace, not while the host
 * asks to wait, and not while it is away.
 *
 *   open ──5 failed rounds──▶ in doubt: only the API's root is asked, all other requests wait
 *     ▲                         │  ▲
 *     │                         │  └──30 s, then 60 s──┐
 *     ├──the root answers───────┤                      │
 *     │                         └──it does not──▶ paused ──after the last pause──▶ lost
 *     └──any other answer, also a late one to an earlier request
 *
 * A round is one failure together with the failures of all requests that ran at the same time: they have one
 * cause. One record or page that always fails does not mean that the host is away, so only the root decides.
 *
 * In addition, 429 and 503 hold all requests back, for as long as the reply asks. The pace stores this hold,
 * because it outlasts the gate, which belongs to one run.
 */
import { EventEmitter, once } from "node:events";
import type { Clock } from "../../base/clock.ts";
import { attachReply, type UpstreamError, type UpstreamFacts } from "../../base/errors.ts";
import { isRefusal, isUpstreamLost } from "./fates.ts";
import type { Hold, HostPace } from "./host-pace.ts";
import { withSignals } from "./link-signals.ts";
import { MAX_RETRY_AFTER_MS, retryWaitMs } from "./retry.ts";

const MAX_FAILED_ROUNDS = 5;
const FIRST_PAUSE_MS = 30_000;
const MAX_PAUSES = 2;
/** Shorter holds are normal and are not reported. */
const REPORTED_HOLD_MS = 5000;
const YEAR_MS = 365 * 86_400_000;

interface HostGateOptions {
  pace: HostPace;
  /** The retries of a request. The host is lost after as many pauses, at most 2. */
  retries: number;
  clock: Clock;
  /** Asks the root of the API once, without passing the gate. Rejects as a request does, and for an answer of a cache. */
  probe(): Promise<unknown>;
  /** Ends the waits that do not belong to a request. */
  signal: AbortSignal;
  whenLost: string;
  onWarning(message: string): void;
  /** @default Math.random */
  random?: () => number;
}

export interface HostGate {
  /** Aborted when the host is lost. Its reason, of the last failure's class, then fails every request. */
  readonly lost: AbortSignal;
  /** Sends as soon as the host may be asked. `attempt` counts the tries from 1. The signal should be linked to `lost`. */
  ask<T>(send: () => Promise<T>, attempt: number, signal: AbortSignal): Promise<T>;
  /** The root answers now. False once the host is lost. Rejects with the signal's reason. */
  isUp(signal: AbortSignal): Promise<boolean>;
}

export function createHostGate(options: HostGateOptions): HostGate {
  const { pace, clock } = options;
  const maxPauses = Math.min(MAX_PAUSES, options.retries);
  const lost = new AbortController();
  // Every request that waits listens to it.
  const changes = new EventEmitter().setMaxListeners(0);
  /** Aborted when the doubt is over; null while there is none. */
  let doubt: AbortController | null = null;
  let probing: Promise<UpstreamError | null> | null = null;
  let failedInARow = 0;
  let round = 0;
  let isHeld = false;
  // A host that never answered gets no pauses, so that a wrong base URL fails soon.
  let hasAnswered = false;

  function isOpen(): boolean {
    applyHold();
    return !isHeld && doubt === null && !lost.signal.aborted;
  }

  async function nextChange(signal: AbortSignal): Promise<void> {
    try {
      await once(changes, "change", { signal });
    } catch (error) {
      throw signal.aborted ? signal.reason : error;
    }
  }

  function recordAnswer(): void {
    hasAnswered = true;
    failedInARow = 0;
    pace.ease();
    if (doubt === null) return;
    doubt.abort();
    doubt = null;
    changes.emit("change");
  }

  function recordFailure(error: UpstreamError, isNewRound: boolean, attempt: number): void {
    if (isRefusal(error)) {
      pace.hold(retryWaitMs(error, attempt, options.random), error);
      if (isNewRound) pace.slow();
      applyHold();
    }
    if (!isNewRound || lost.signal.aborted) return;
    round += 1;
    failedInARow += 1;
    const isDoubtful = hasAnswered && failedInARow >= MAX_FAILED_ROUNDS;
    // It rejects only when the doubt or the run is over.
    if (isDoubtful && doubt === null) examine(error).catch(() => {});
  }

  /** Loses the host unless it still answers. Rejects when the doubt or the run is over. */
  async function examine(cause: UpstreamError): Promise<void> {
    const mine = new AbortController();
    doubt = mine;
    let error = cause;
    await withSignals([mine.signal, options.signal, lost.signal], async (signal) => {
      for (let pauses = 0; ; pauses++) {
        const failure = await probe(signal);
        signal.throwIfAborted();
        if (failure === null) return recordAnswer();
        error = failure;
        failedInARow += 1;
        const inARow = `after ${failedInARow} failures in a row`;
        if (pauses >= maxPauses) return lose(error, `stopped asking the service ${inARow}; the last one`);
        const pauseMs = FIRST_PAUSE_MS * 2 ** pauses;
        options.onWarning(`paused all requests for ${describeTime(pauseMs)} ${inARow}: ${error.message}`);
        await clock.sleep(pauseMs, signal);
      }
    });
  }

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
        applyHold();
      }
      return error as UpstreamError;
    }
  }

  function applyHold(): void {
    const hold = pace.held();
    if (!hold) return;
    if (!isShortEnough(hold)) lose(hold.refusal, `the service asks for a pause ${describeHold(hold)}`);
    else if (!isHeld) waitOut(hold).catch(() => {});
  }

  async function waitOut(first: Hold): Promise<void> {
    isHeld = true;
    const since = clock.now().getTime();
    let last = first;
    for (let hold: Hold | null = first; hold && isShortEnough(hold); hold = pace.held()) {
      await clock.sleep(hold.leftMs(), options.signal);
      pace.release(hold);
      last = hold;
    }
    isHeld = false;
    const heldMs = clock.now().getTime() - since;
    const why = `the service answered ${last.refusal.status}`;
    if (heldMs > REPORTED_HOLD_MS)
      options.onWarning(`requests were held back for ${describeTime(heldMs)}: ${why}`);
    changes.emit("change");
  }

  function lose(error: UpstreamError, why: string): void {
    lost.abort(withMessage(error, `${why}: ${error.message}`, options.whenLost));
    changes.emit("change");
  }

  return {
    lost: lost.signal,
    async ask(send, attempt, signal) {
      do {
        while (!isOpen()) await nextChange(signal);
        await pace.turn(signal);
        signal.throwIfAborted();
        // The gate may have been shut during the wait. No other code runs between this check and `send`.
      } while (!isOpen());
      const sentIn = round;
      try {
        const reply = await send();
        recordAnswer();
        return reply;
      } catch (error) {
        // A stopped request says nothing about the host.
        signal.throwIfAborted();
        if (!isUpstreamLost(error)) recordAnswer();
        else recordFailure(error as UpstreamError, sentIn === round, attempt);
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

/** The same failure with another message. It keeps its class, because callers decide by the class. */
function withMessage(error: UpstreamError, message: string, hint: string): UpstreamError {
  const kind = error.constructor as new (message: string, facts: UpstreamFacts) => UpstreamError;
  const copy = new kind(message, { ...error, cause: error, hint });
  return error.reply === undefined ? copy : attachReply(copy, error.reply, error.body);
}

function isShortEnough(hold: Hold): boolean {
  return hold.leftMs() <= MAX_RETRY_AFTER_MS;
}

/** The pause that the service asks for, and the one that it gets: a pace shortens long holds. */
function describeHold({ refusal, untilMs }: Hold): string {
  const over = new Date(Math.ceil(untilMs / 1000) * 1000).toISOString().replace(".000", "");
  return `for ${describeTime(refusal.retryAfterMs ?? 0)}; no request is sent before ${over}`;
}

function describeTime(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3600) return `${Math.round(seconds / 60)} minutes`;
  if (seconds * 1000 <= YEAR_MS) return `${Math.round(seconds / 3600)} hours`;
  return "more than a year";
}
