import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createListPlaces } from "../../../src/serve/catalog/list-slice.ts";

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
