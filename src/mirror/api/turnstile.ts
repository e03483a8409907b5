import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Lets one caller pass in each turn of the event loop. Parsing a page takes milliseconds. When several pages
 * arrive at once, other work that waits for a socket, such as loading, would otherwise wait for all of them.
 */
export function createTurnstile(): () => Promise<void> {
  let last: Promise<void> = Promise.resolve();
  return () => {
    last = last.then(() => nextTurn());
    return last;
  };
}
