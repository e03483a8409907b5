import { createTally } from "./tally.ts";

/** A clock in hand: nobody waits, and its time moves by the waits alone. With `holds` every wait lasts until it is aborted. */
export function createFakeClock({ startAt = "2024-05-15T12:00:00Z", holds = false } = {}) {
  let now = Date.parse(startAt);
  const sleeps: number[] = [];
  const tally = createTally(() => sleeps.length);
  return {
    /** The waits that were asked for, in milliseconds. */
    sleeps,
    /** Resolves when so many waits have begun. */
    slept: tally.reached,
    now: () => new Date(now),
    async sleep(ms: number, signal?: AbortSignal) {
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
export function createHandClock(start: string) {
  let nowMs = Date.parse(start);
  const sleepers = new Set<{ at: number; wake(): void }>();

  /** Moves to a moment, stopping at each wait on the way for what it sets in motion. */
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
    sleep(ms: number, signal?: AbortSignal): Promise<void> {
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
    advance: (ms: number) => moveTo(new Date(nowMs + ms)),
  };
}

/** Lets everything run that waits for nothing but its turn. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
}
