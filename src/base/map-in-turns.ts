import { setImmediate as nextTurn } from "node:timers/promises";

const TURN_MS = 1;

/** Maps a long list in parts, between which whatever else the process does has its turn. */
export async function mapInTurns<T, U>(items: readonly T[], map: (item: T) => U): Promise<U[]> {
  const mapped: U[] = [];
  let from = performance.now();
  for (const item of items) {
    mapped.push(map(item));
    if (performance.now() - from < TURN_MS) continue;
    await nextTurn();
    from = performance.now();
  }
  return mapped;
}
