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
