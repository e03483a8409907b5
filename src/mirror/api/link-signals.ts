import { setMaxListeners } from "node:events";

/** A signal that aborts with the first of several. AbortSignal.any leaks memory on signals that live long. */
export function linkSignals(outer: readonly (AbortSignal | undefined)[]): {
  signal: AbortSignal;
  release(): void;
} {
  const controller = new AbortController();
  const releases: (() => void)[] = [];
  for (const signal of outer) {
    if (!signal) continue;
    if (signal.aborted) controller.abort(signal.reason);
    const abort = () => controller.abort(signal.reason);
    // Each of many requests listens to the caller's signal, and lets it go. Node would warn of a leak from eleven on.
    if (signal instanceof EventTarget) setMaxListeners(0, signal);
    signal.addEventListener("abort", abort, { once: true });
    releases.push(() => signal.removeEventListener("abort", abort));
  }
  return {
    signal: controller.signal,
    release() {
      for (const release of releases) release();
    },
  };
}

/** Calls `run` with a signal that aborts with the first of several. */
export async function withSignals<T>(
  outer: readonly (AbortSignal | undefined)[],
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, release } = linkSignals(outer);
  try {
    return await run(signal);
  } finally {
    release();
  }
}
