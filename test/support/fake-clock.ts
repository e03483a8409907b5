import type { Clock } from "../../src/base/clock.ts";
import { createTally } from "./tally.ts";

export interface FakeClock extends Clock {
  /** The waits that were asked for, in milliseconds. */
  sleeps: number[];
  /** Resolves when so many waits have begun. */
  slept(count: number): Promise<void>;
}

/** A clock in hand: nobody waits, and its time moves by the waits alone. With `holds` every wait lasts until it is aborted. */
export function createFakeClock({ startAt = "2024-05-15T12:00:00Z", holds = false } = {}): FakeClock {
  let now = Date.parse(startAt);
  const sleeps: number[] = [];
  const tally = createTally(() => sleeps.length);
  return {
    sleeps,
    slept: tally.reached,
    now: () => new Date(now),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      tally.come();
      if (holds)
        await new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      now += ms;
    },
  };
}

/** A clock in hand: time stands still until it is moved, and then every wait that is over ends in its order. */
export interface HandClock extends Clock {
  /** Moves to a moment, stopping at each wait on the way for what it sets in motion. */
  moveTo(moment: string | Date): Promise<void>;
  advance(ms: number): Promise<void>;
}

export function createHandClock(start: string): HandClock {
  let nowMs = Date.parse(start);
  const sleepers = new Set<{ at: number; wake(): void }>();

  async function moveTo(moment: string | Date): Promise<void> {
    const endMs = new Date(moment).getTime();
    for (;;) {
      await settle();
      const next = [...sleepers].sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > endMs) break;
      nowMs = Math.max(nowMs, next.at);
      next.wake();
    }
    nowMs = endMs;
  }

  return {
    now: () => new Date(nowMs),
    sleep(ms, signal) {
      return new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason);
        const sleeper = {
          at: nowMs + ms,
          wake() {
            sleepers.delete(sleeper);
            signal?.removeEventListener("abort", abort);
            resolve();
          },
        };
        const abort = () => {
          sleepers.delete(sleeper);
          reject(signal?.reason);
        };
        sleepers.add(sleeper);
        signal?.addEventListener("abort", abort, { once: true });
      });
    },
    moveTo,
    advance: (ms) => moveTo(new Date(nowMs + ms)),
  };
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
