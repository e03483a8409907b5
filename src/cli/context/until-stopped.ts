import { type Clock, systemClock } from "../../base/clock.ts";

const LONG_MS = 2 ** 31 - 1;

/** Waits until `signal` is aborted, then throws its reason. For commands that only a signal ends. */
export async function untilStopped(signal: AbortSignal, clock: Clock = systemClock): Promise<never> {
  for (;;) await clock.sleep(LONG_MS, signal);
}
