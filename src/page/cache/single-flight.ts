import { MirrorError } from "../../base/errors.ts";

interface Flight<T> {
  readonly result: Promise<T>;
  readonly stop: AbortController;
  readers: number;
}

export interface SingleFlight<T> {
  /**
   * The result for a key. Readers who ask while it is being made share it. `make` gets a signal that is
   * aborted when the last of them has left.
   */
  join(key: string, make: (signal: AbortSignal) => Promise<T>, reader: AbortSignal): Promise<T>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Flight<T>>();

  function start(key: string, make: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stop = new AbortController();
    const flight = { result: make(stop.signal), stop, readers: 0 };
    const land = () => forget(key, flight);
    flight.result.then(land, land);
    flights.set(key, flight);
    return flight;
  }

  function forget(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key);
  }

  return {
    async join(key, make, reader) {
      reader.throwIfAborted();
      const flight = flights.get(key) ?? start(key, make);
      flight.readers++;
      try {
        return await untilAborted(flight.result, reader);
      } finally {
        flight.readers--;
        if (flight.readers === 0) {
          // A caller that comes now must not join a flight that is being stopped.
          forget(key, flight);
          flight.stop.abort(new ReaderGoneError());
        }
      }
    },
  };
}

/** Waits for a promise, or until the signal is aborted: then its reason is thrown. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let abort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Nobody reads the reply any more, so it is not made. */
export class ReaderGoneError extends MirrorError {
  override name = "ReaderGoneError";

  constructor() {
    super("the reader is gone");
  }
}

/** A signal that is aborted with ReaderGoneError when the reader of this request closes the connection. */
export function whileRead({ signal }: Pick<Request, "signal">): AbortSignal {
  const reader = new AbortController();
  const leave = () => reader.abort(new ReaderGoneError());
  if (signal.aborted) leave();
  else signal.addEventListener("abort", leave, { once: true });
  return reader.signal;
}
