import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { bisect, lastBorder, shownWhole } from "../../../src/mirror/walk/bisection.ts";
import { createDatedList } from "../../support/dated-list.ts";

type Model = ReturnType<typeof createDatedList>;

const HEAD = 20;

/** A run: the head, a search where the counts differ, and the head again, three times at most. */
async function findDifferences(model: Model, limit: number, budget = Number.POSITIVE_INFINITY) {
  let requests = 0;
  for (let readings = 1; ; readings++) {
    const head = model.readHead(Math.max(HEAD, limit));
    const isSettled = head.places === model.shown;
    const top = lastBorder(head);
    if (isSettled || readings === 3 || top === null) return { isSettled, requests, hasBorder: top !== null };
    const found = await bisect(top, model.parts, { limit, budget: budget - requests });
    requests += found.requests;
    if (!found.isDone)
      return { isSettled: model.readHead(HEAD).places === model.shown, requests, hasBorder: true };
  }
}

describe("a search by counts", () => {
  const NAME = "of 20,000 records finds %i deletions at %i places in %i requests at most";
  const areFound = async (gone: number, clusters: number, most: number) => {
    for (const seed of [1, 2, 3]) {
      const model = createDatedList({ seed, size: 20_000 });
      for (let at = 0; at < clusters; at++) model.remove(gone / clusters);
      const { isSettled, requests } = await findDifferences(model, 100);
      expect([isSettled, model.isEqual(), model.missing]).toEqual([true, true, gone]);
      expect(requests).toBeLessThanOrEqual(most);
    }
  };
  it.each([
    [1, 1, 9],
    [100, 1, 12],
  ])(NAME, areFound);
  it.each([
    [10, 10, 60],
    [100, 100, 170],
  ])(NAME, { tags: ["long"] }, areFound);

  it("asks nothing where the counts agree, and so does not see a deletion that a birth hides", async () => {
    const model = createDatedList({ seed: 5, size: 1000 });
    model.remove(1, 500);
    model.insertOld();
    expect(await findDifferences(model, 50)).toMatchObject({ isSettled: true, requests: 0 });
    expect(model.isEqual()).toBe(false);
  });

  it("keeps to its budget, and has found some", async () => {
    const model = createDatedList({ seed: 6, size: 20_000 });
    for (let at = 0; at < 50; at++) model.remove();
    const { isSettled, requests } = await findDifferences(model, 100, 30);
    expect({ isSettled, requests }).toEqual({ isSettled: false, requests: 30 });
    expect(model.missing).toBeGreaterThan(0);
  });

  it("gives a range up whose pages show no order", async () => {
    const top = { newest: "9", below: 100, places: 120 };
    const parts = {
      read: async () => null,
      count: async (ranges: readonly unknown[]) => ranges.map(() => 99),
    };
    expect(await bisect(top, parts, { limit: 10, budget: 50 })).toEqual({ requests: 1, isDone: false });
  });

  it("ends after every page has come when one fails", async () => {
    let underWay = 0;
    const parts = {
      async read(offset: number) {
        underWay += 1;
        await new Promise((resolve) => setImmediate(resolve));
        underWay -= 1;
        if (offset > 400) throw new Error("away");
        return { offset, places: 1000, dates: ["500", "400", "300"], behind: null };
      },
      count: async (ranges: readonly unknown[]) => ranges.map(() => 0),
    };
    const top = { newest: "999", below: 990, places: 1000 };
    await expect(bisect(top, parts, { limit: 10, budget: 50 })).rejects.toThrow("away");
    expect(underWay).toBe(0);
  });

  it.each([
    1, 3, 12, -1, -3,
  ])("learns at the end of the list that %i places more are counted", async (more) => {
    const model = createDatedList({ seed: 7, size: 2000 });
    model.remove(1, 300);
    model.remove(1, 700);
    const behind: (number | null)[] = [];
    const { places, ...top } = model.readHead(50);
    const border = lastBorder({ ...top, places: places + more });
    if (border === null) throw new Error("the head has no border");
    const parts = {
      ...model.parts,
      async read(offset: number, limit: number) {
        const page = await model.parts.read(offset, limit);
        behind.push(page.behind === null ? null : page.behind + more);
        return { ...page, places: page.places + more, behind: behind.at(-1) ?? null };
      },
    };
    const { requests, isDone } = await bisect(border, parts, { limit: 20, budget: 100 });
    expect({ isDone, isEqual: model.isEqual() }).toEqual({ isDone: true, isEqual: true });
    expect(behind.filter((one) => one !== null)).toContain(more);
    expect(requests).toBeLessThan(20);
  });

  const schedule = fc.record({
    seed: fc.integer(),
    size: fc.integer({ min: 30, max: 600 }),
    tied: fc.constantFrom(1, 1, 3, 30),
    kind: fc.constantFrom("deletions" as const, "old births" as const, "any" as const),
    limit: fc.constantFrom(4, 7, 20, 50),
    events: fc.nat(8),
    rate: fc.constantFrom(0, 0, 0.2, 1),
    lag: fc.constantFrom(0, 0, 4),
  });

  const live = (numRuns: number) =>
    fc.assert(
      fc.asyncProperty(schedule, async ({ limit, events, ...options }) => {
        const model = createDatedList(options);
        for (let event = 0; event < events; event++) model.happen();
        let { isSettled, hasBorder } = await findDifferences(model, limit);
        if (options.rate > 0 || options.lag > 0) {
          // In the end it rests, and one server answers.
          model.rest();
          ({ isSettled, hasBorder } = await findDifferences(model, limit));
        }
        // Where one date fills the head, there is no border to begin at.
        if (!hasBorder) return;
        expect(isSettled).toBe(true);
        expect(model.settle()).toEqual([]);
        expect(model.shown).toBe(model.length);
        // Deletions hide behind births with old dates, and behind those that a head from behind left out, and only so.
        if (options.kind !== "any" && options.lag === 0) expect(model.isEqual()).toBe(true);
      }),
      { numRuns },
    );

  it("leaves no difference where only one kind of change happens, and takes nothing that is there for missing", () =>
    live(120));
  it("does so by more schedules", { tags: ["long", "exhaustive"] }, () =>
    live(Number(process.env.DOCMIRROR_TEST_RUNS ?? 20_000)),
  );
});

describe("a page", () => {
  const page = (offset: number, dates: string[], behind: number | null = null) => ({
    offset,
    places: 100,
    dates,
    behind,
  });

  it("shows whole what lies between its first and its last date", () => {
    expect(shownWhole(page(10, ["9", "8", "7"]))).toEqual({ newerThan: "7", olderThan: "9" });
    expect(shownWhole(page(0, ["9", "8", "7"]))).toEqual({ newerThan: "7", olderThan: null });
    expect(shownWhole(page(97, ["9", "8", "7"], 0))).toEqual({ newerThan: null, olderThan: "9" });
    // The count says that more follow.
    expect(shownWhole(page(95, ["9", "8", "7"], 2))).toEqual({ newerThan: "7", olderThan: "9" });
    expect(shownWhole(page(120, []))).toBeNull();
  });

  it("has a border where its last date begins, and none with a single date", () => {
    expect(lastBorder(page(10, ["9", "8", "7", "7"]))).toEqual({ newest: "7", below: 88, places: 100 });
    expect(lastBorder(page(10, ["7", "7"]))).toBeNull();
    expect(lastBorder(page(10, []))).toBeNull();
  });
});
