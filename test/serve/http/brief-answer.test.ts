import { describe, expect, it } from "vitest";
import { createBriefAnswer } from "../../../src/serve/http/supervision.ts";

function countedAnswer(keepMs: number) {
  const clock = { nowMs: 0 };
  const made: ((end: () => string) => void)[] = [];
  const ask = createBriefAnswer(
    () =>
      new Promise<string>((resolve, reject) => {
        made.push((end) => {
          try {
            resolve(end());
          } catch (error) {
            reject(error);
          }
        });
      }),
    keepMs,
    () => clock.nowMs,
  );
  return { ask, made, clock };
}

describe("a brief answer", () => {
  it("is made once for all who ask while it is being made, however long that takes", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const askers = [ask(), ask()];
    clock.nowMs = 60_000;
    askers.push(ask());
    expect(made).toHaveLength(1);
    made[0]?.(() => "one");
    expect(await Promise.all(askers)).toEqual(["one", "one", "one"]);
  });

  it("is kept for its time after it was made, and then made anew", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const first = ask();
    clock.nowMs = 500;
    made[0]?.(() => "one");
    await first;
    clock.nowMs = 1499;
    expect(await ask()).toBe("one");
    clock.nowMs = 1500;
    const second = ask();
    expect(made).toHaveLength(2);
    made[1]?.(() => "two");
    expect(await second).toBe("two");
  });

  it("keeps a failure as long", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const first = ask();
    made[0]?.(() => {
      throw new Error("no");
    });
    await expect(first).rejects.toThrow("no");
    await expect(ask()).rejects.toThrow("no");
    clock.nowMs = 1000;
    const second = ask();
    made[1]?.(() => "yes");
    expect(await second).toBe("yes");
  });
});
