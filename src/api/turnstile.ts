import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Lets one caller on in each turn of the event loop. Parsing a page takes milliseconds; when several arrive at once, whoever else waits
 * for a socket, such as the one that loads, would wait for all of them.
 */
export function createTurnstile(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
