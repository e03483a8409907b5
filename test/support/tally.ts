/** Things that come one after the other: `come()` when one did, `reached` resolves when there are so many. */
export function createTally(count: () => number) {
  const waiting = new Set<() => void>();
  return {
    come(): void {
      for (const look of waiting) look();
    },
    reached: (wanted: number): Promise<void> =>
      new Promise((resolve) => {
        const look = () => {
          if (count() < wanted) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
  };
}

export function later<T = void>() {
  let resolve: (value: T) => void = () => {};
  let reject: (error: unknown) => void = () => {};
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}
