import { describe, expect, it } from "vitest";
import { createBriefAnswer } from "../../../src/serve/http/supervision.ts";
import { later } from "../../support/tally.ts";

function countedAnswer(keepMs: number) {
  const clock = { nowMs: 0 };
  const made: ReturnType<typeof later<string>>[] = [];
  const make = () => {
    const answer = later<string>();
    made.push(answer);
    return answer.promise;
  };
  return { ask: createBriefAnswer(make, keepMs, () => clock.nowMs), made, clock };
}

describe("a brief answer", () => {
  it("is made once for all who ask while it is being made, however long that takes", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const askers = [ask(), ask()];
    clock.nowMs = 60_000;
    askers.push(ask());
    expect(made).toHaveLength(1);
    made[0]?.resolve("one");
    expect(await Promise.all(askers)).toEqual(["one", "one", "one"]);
  });

  it("is kept for its time after it was made, and then made anew", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const first = ask();
    clock.nowMs = 500;
    made[0]?.resolve("one");
    await first;
    clock.nowMs = 1499;
    expect(await ask()).toBe("one");
    clock.nowMs = 1500;
    const second = ask();
    expect(made).toHaveLength(2);
    made[1]?.resolve("two");
    expect(await second).toBe("two");
  });

  it("keeps a failure as long", async () => {
    const { ask, made, clock } = countedAnswer(1000);
    const first = ask();
    made[0]?.reject(new Error("no"));
    await expect(first).rejects.toThrow("no");
    await expect(ask()).rejects.toThrow("no");
    clock.nowMs = 1000;
    const second = ask();
    made[1]?.resolve("yes");
    expect(await second).toBe("yes");
  });
});
