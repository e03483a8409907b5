import { LONGEST_SLEEP_MS, systemClock } from "../../base/clock.ts";
import { EXIT, MirrorError } from "../../base/errors.ts";

/** Supervisors kill a process 10 s after they ask it to stop. So it ends before that, even when something hangs. */
export const STOP_WITHIN_MS = 9000;

/** Waits until `signal` is aborted, then throws its reason. For commands that only a signal ends. */
export async function untilStopped(signal: AbortSignal): Promise<never> {
  for (;;) await systemClock.sleep(LONGEST_SLEEP_MS, signal);
}

/** Runs the last steps of a command. When they hang, the process ends with the exit code of the signal's reason. */
export async function closeInTime({ reason }: AbortSignal, close: () => Promise<void>): Promise<void> {
  const exitCode = reason instanceof MirrorError ? reason.exitCode : EXIT.bug;
  const force = setTimeout(() => process.exit(exitCode), STOP_WITHIN_MS);
  await close();
  clearTimeout(force);
}
