import { MirrorError } from "../../base/errors.ts";

/** Pages that are read from the mirror at once. Each takes a connection for as long as its questions take. */
export const PAGES_AT_ONCE: GateBounds = { atOnce: 3, waiting: 60, patienceMs: 10_000 };

/** Replies that are streamed at once. Each holds a connection until its reader has taken everything. */
export const STREAMS_AT_ONCE: GateBounds = { atOnce: 3, waiting: 20, patienceMs: 5000 };

/** Too many others are served at the moment. */
export class BusyError extends MirrorError {
  override name = "BusyError";
}

export interface GateBounds {
  /** So many are let in at once. */
  readonly atOnce: number;
  /** So many more may wait. */
  readonly waiting: number;
  /** Each of them waits so long at most. */
  readonly patienceMs: number;
}

export interface Gate {
  /**
   * Runs `fn` when there is room, first come, first served. Throws BusyError when too many wait or it takes
   * too long, and the signal's reason when it is aborted before.
   */
  pass<T>(fn: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createGate({ atOnce, waiting, patienceMs }: GateBounds): Gate {
  let inside = 0;
  /** A set keeps the order in which they came. */
  const queue = new Set<() => void>();

  function enter(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (inside < atOnce) {
      inside++;
      return Promise.resolve();
    }
    if (queue.size >= waiting) throw new BusyError("too many requests wait for the mirror");
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => () => {
        clearTimeout(late);
        queue.delete(admit);
        signal.removeEventListener("abort", leave);
        settle();
      };
      const admit = end(resolve);
      const leave = end(() => reject(signal.reason));
      const late = setTimeout(
        end(() => reject(new BusyError("the mirror was busy for too long"))),
        patienceMs,
      );
      queue.add(admit);
      signal.addEventListener("abort", leave, { once: true });
    });
  }

  /** The next one in the queue gets the place. */
  function exit(): void {
    const [admit] = queue;
    if (admit === undefined) inside--;
    else admit();
  }

  return {
    async pass(fn, signal) {
      await enter(signal);
      try {
        return await fn();
      } finally {
        exit();
      }
    },
  };
}
