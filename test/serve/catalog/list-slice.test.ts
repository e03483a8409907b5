import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListPlaces, createListSlices } from "../../../src/serve/catalog/list-slice.ts";
import type { TransactionSql } from "../../../src/store/connection/sql.ts";

describe("slices of a list", () => {
  it("go on from where the last one ended, however many records were found by their slug meanwhile", async () => {
    const asked: unknown[][] = [];
    let total = 1000;
    const unsafe = async (text: string, params: unknown[]) => {
      asked.push(params);
      if (text.includes("count(*)")) return [{ total }];
      expect(text).toMatch(/ offset \$\d+ limit \$\d+$/);
      // Few matches of a filter are found and sorted; all else is read in its order.
      expect(text.includes("offset 0)")).toBe(text.includes("mirror.projects") && total <= 20_000);
      const limit = Number(params.at(-1));
      return Array.from({ length: limit }, (_, at) => ({ id: String(at), key: "key" }));
    };
    const tx = { unsafe } as unknown as TransactionSql;
    const slices = createListSlices();
    await slices(tx, "build", { filters: [], offset: 0, limit: 100 }, "1");
    total = 1;
    for (let at = 0; at < 300; at++) {
      const filters = [{ path: ["slug"], value: `project-${at}` }];
      await slices(tx, "project", { filters, offset: 0, limit: 1 }, "1");
    }
    await slices(tx, "build", { filters: [], offset: 100, limit: 100 }, "1");
    expect(asked.at(-1)?.slice(-2)).toEqual([0, 100]);
    for (total of [20_000, 20_001]) {
      const filters = [{ path: ["name"], value: String(total) }];
      await slices(tx, "project", { filters, offset: 0, limit: 1 }, "1");
    }
  });
});

const place = (offset: number) => ({ key: `key ${offset}`, id: String(offset) });

describe("the known places of a list", () => {
  it("give the nearest one before an offset, as a search through all of them does", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(300), { maxLength: 40 }), fc.nat(320), (offsets, wanted) => {
        const places = createListPlaces();
        for (const offset of offsets) places.add("builds", "1", offset, place(offset));
        const nearest = Math.max(-1, ...offsets.filter((offset) => offset <= wanted));
        expect(places.nearest("builds", "1", wanted)).toEqual(
          nearest < 0 ? null : { offset: nearest, place: place(nearest) },
        );
      }),
    );
  });

  it("hold for their list and its revision alone", () => {
    const places = createListPlaces();
    places.add("builds", "1", 10, place(10));
    expect(places.nearest("users", "1", 10)).toBeNull();
    expect(places.nearest("builds", "2", 10)).toBeNull();
    places.add("builds", "2", 20, place(20));
    expect(places.nearest("builds", "1", 10)).toBeNull();
    expect(places.nearest("builds", "2", 15)).toBeNull();
    expect(places.nearest("builds", "2", 25)?.offset).toBe(20);
  });

  it("are bounded: of very many, every second one is forgotten", () => {
    const places = createListPlaces();
    for (let offset = 1; offset <= 20_000; offset++) places.add("builds", "1", offset, place(offset));
    const known = new Set<number>();
    for (let offset = 1; offset <= 20_000; offset++) {
      const found = places.nearest("builds", "1", offset);
      if (found) known.add(found.offset);
    }
    expect(known.size).toBeLessThanOrEqual(4000);
    expect(known.size).toBeGreaterThan(1000);
  });
});
