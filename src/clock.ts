import { setTimeout as delay } from "node:timers/promises";

/** The only source of time and waiting, so that tests can hold the clock in hand. */
export interface Clock {
  now(): Date;
  /** Resolves after `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** By how many milliseconds another clock is ahead of ours, at least and at most; negative when it is behind. */
export interface ClockAhead {
  minMs: number;
  maxMs: number;
}

export const systemClock: Clock = {
  now: () => new Date(),
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    try {
      await delay(ms, undefined, signal ? { signal } : {});
    } catch (error) {
      throw signal?.aborted ? signal.reason : error;
    }
  },
};
