/** The purposes of random numbers. Two streams of one world are independent. */
export const STREAM = {
  user: 1,
  project: 2,
  version: 3,
  file: 4,
  build: 5,
  buildTexts: 6,
  fileText: 7,
  history: 8,
  event: 9,
  clock: 10,
  incident: 11,
  order: 12,
  failures: 13,
} as const;

/** A whole number below 2^32, by its three arguments alone: any record can be computed again from its id. */
export function hash(seed: number, stream: number, id: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(stream + 1, 0xc2b2ae35) ^ (id | 0);
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b) ^ Math.imul((id / 0x100000000) | 0, 0x27d4eb2f);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

export type Random = ReturnType<typeof createRandom>;

/** The same seed gives the same numbers in the same order. Not for secrets. */
export function createRandom(seed: number) {
  let state = seed | 0;
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let h = Math.imul(state ^ (state >>> 15), state | 1);
    h = (h + Math.imul(h ^ (h >>> 7), h | 61)) ^ h;
    return ((h ^ (h >>> 14)) >>> 0) / 0x100000000;
  }
  return {
    /** At least 0 and less than 1. */
    next,
    /** A whole number, at least 0 and less than `below`. */
    int: (below: number) => Math.floor(next() * below),
    chance: (probability: number) => next() < probability,
    pick: <T>(choices: readonly [T, ...T[]]): T => choices[Math.floor(next() * choices.length)] ?? choices[0],
    /** Exponentially distributed: the wait for an event that occurs every `mean` on average. */
    wait: (mean: number) => -Math.log(1 - next()) * mean,
    /** Normally distributed around 0 with deviation 1. */
    normal: () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}
