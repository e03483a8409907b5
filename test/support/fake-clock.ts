import type { Clock } from "../../src/base/clock.ts";

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
  const waiting = new Set<() => void>();
  return {
    sleeps,
    slept: (count) =>
      new Promise((resolve) => {
        const look = () => {
          if (sleeps.length < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    now: () => new Date(now),
    async sleep(ms, signal) {
      signal?.throwIfAborted();
      sleeps.push(ms);
      for (const look of waiting) look();
      if (holds) {
        await new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
        });
      }
      now += ms;
    },
  };
}
