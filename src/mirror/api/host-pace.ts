import PQueue from "p-queue";
import type { Clock } from "../../base/clock.ts";
import type { HttpStatusError } from "../../base/errors.ts";

/** A time in which the host wants no request, because of one that it refused. */
export interface Hold {
  readonly refusal: HttpStatusError;
  /** Its end, in milliseconds since 1970. */
  readonly untilMs: number;
  /** Negative once it is over. */
  leftMs(): number;
}

/** For all requests of a process to one host: an even pace, slower after refusals, and the hold that the host asked for. */
export interface HostPace {
  /** Resolves when the next request may start. A request that is aborted before takes no turn. */
  turn(signal: AbortSignal): Promise<void>;
  slow(): void;
  ease(): void;
  /** For an hour at most. If a hold is running, the one that ends last counts. */
  hold(waitMs: number, refusal: HttpStatusError): void;
  held(): Hold | null;
  /** Ends a hold after its wait, even if the clock was set in between. A newer hold stays. */
  release(hold: Hold): void;
}

const MAX_SLOWNESS = 16;
/** One odd reply must not stop a worker until somebody sees it. Who really wants a longer pause says so again. */
const MAX_HOLD_MS = 3_600_000;
/** After about 70 answers, a pace that was halved is nearly back at the old one. */
const EASE = 0.99;
/** Timers fire up to two milliseconds late, so turns that are closer together than this come in groups. */
const GROUPED_MS = 30;
/** A turn that makes up for a late one comes up to a quarter sooner. */
const LEAST_GAP = 0.75;

/**
 * Turns follow a schedule: one that is asked for is due an interval after the one before was due, even where that came late,
 * because a timer fired late or this process was at work. One interval is made up for at most: so a second holds at most one
 * turn more than the rate, as it does when no turn is late.
 *
 * @param host.ratePerSecond 0: no limit
 */
export function createHostPace(host: { ratePerSecond: number; clock: Clock }): HostPace {
  const { ratePerSecond, clock } = host;
  const nowMs = () => clock.now().getTime();
  const turns = new PQueue({ concurrency: 1 });
  const shortestMs = 1000 / ratePerSecond;
  let slowness = 1;
  let dueMs = 0;
  let lastMs = 0;
  let held: Hold | null = null;

  async function takeTurn(askedMs: number, signal: AbortSignal): Promise<void> {
    const intervalMs = shortestMs * slowness;
    const gapMs = shortestMs < GROUPED_MS ? 0 : LEAST_GAP * intervalMs;
    dueMs = Math.max(dueMs, askedMs);
    // Never longer than one interval, even after our clock was set back.
    const waitMs = Math.min(intervalMs, Math.max(dueMs, lastMs + gapMs) - nowMs());
    if (waitMs > 0) await clock.sleep(Math.ceil(waitMs), signal);
    lastMs = nowMs();
    const startMs = Math.max(dueMs, lastMs - Math.max(intervalMs, GROUPED_MS));
    dueMs = Math.min(startMs, lastMs) + intervalMs;
  }

  return {
    async turn(signal) {
      if (ratePerSecond === 0) return;
      const askedMs = nowMs();
      await turns.add(() => takeTurn(askedMs, signal), { signal });
    },
    slow() {
      slowness = Math.min(MAX_SLOWNESS, slowness * 2);
    },
    ease() {
      slowness = Math.max(1, slowness * EASE);
    },
    hold(waitMs, refusal) {
      const hold = createHold(Math.min(waitMs, MAX_HOLD_MS), refusal, nowMs);
      if (held === null || held.leftMs() <= hold.leftMs()) held = hold;
    },
    held() {
      if (held && held.leftMs() < 0) held = null;
      return held;
    },
    release(hold) {
      if (held === hold) held = null;
    },
  };
}

function createHold(waitMs: number, refusal: HttpStatusError, nowMs: () => number): Hold {
  let latestMs = nowMs();
  let untilMs = latestMs + waitMs;
  return {
    refusal,
    get untilMs() {
      return untilMs;
    },
    leftMs() {
      const now = nowMs();
      // Our clock was set back: the rest counts from the new time. Else it could last much longer.
      if (now < latestMs) untilMs = now + Math.min(waitMs, untilMs - latestMs);
      latestMs = now;
      return untilMs - now;
    },
  };
}
