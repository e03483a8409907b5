import { describe, expect, it } from "vitest";
import { mapInTurns } from "../../src/base/map-in-turns.ts";

describe("a list that is mapped in turns", () => {
  it("is mapped in its order, and others have their turn in between", async () => {
    let turns = 0;
    let isOver = false;
    const other = () => {
      turns += 1;
      if (!isOver) setImmediate(other);
    };
    setImmediate(other);
    const slow = (item: number) => {
      const until = performance.now() + 2;
      while (performance.now() < until);
      return item * 2;
    };
    expect(await mapInTurns([1, 2, 3, 4, 5], slow)).toEqual([2, 4, 6, 8, 10]);
    isOver = true;
    expect(turns).toBeGreaterThanOrEqual(4);
  });

  it("takes no turn when it is short", async () => {
    let isLater = false;
    setImmediate(() => {
      isLater = true;
    });
    expect(await mapInTurns([1], String)).toEqual(["1"]);
    expect(isLater).toBe(false);
  });
});
