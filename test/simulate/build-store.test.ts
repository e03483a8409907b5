import fc from "fast-check";
import { expect, test } from "vitest";
import { createBuildStore } from "../../src/simulate/builds.ts";

const step = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), date: fc.integer({ min: 0, max: 50 }) }),
  fc.record({ kind: fc.constant("remove" as const), row: fc.nat(40) }),
  fc.record({ kind: fc.constant("removeWhere" as const), modulus: fc.integer({ min: 2, max: 5 }) }),
);

test("the list holds the live rows, newest date first and of equal dates the newest row", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const store = createBuildStore(0);
      let model: { row: number; date: number }[] = [];
      for (const action of steps) {
        if (action.kind === "add") {
          const row = store.add({ createdAt: 1, date: action.date, project: 3, version: null });
          model.push({ row, date: action.date });
        } else if (action.kind === "remove") {
          const live = model.some(({ row }) => row === action.row);
          expect(store.remove(action.row, 9)).toBe(live);
          model = model.filter(({ row }) => row !== action.row);
        } else {
          const gone = store.removeWhere((row) => row % action.modulus === 0, 9);
          expect(gone).toHaveLength(model.filter(({ row }) => row % action.modulus === 0).length);
          model = model.filter(({ row }) => row % action.modulus !== 0);
        }
      }
      const expected = model.sort((a, b) => b.date - a.date || b.row - a.row).map(({ row }) => row);
      expect(Array.from({ length: store.liveCount }, (_, place) => store.rowAt(place))).toEqual(expected);
      for (let row = 0; row < store.rowCount; row++) {
        expect(store.rowOf(store.idOf(row))).toBe(expected.includes(row) ? row : undefined);
      }
    }),
  );
});

test("a store outgrows the capacity it was made with", () => {
  const store = createBuildStore(10);
  for (let i = 0; i < 5000; i++) store.add({ createdAt: i, date: i, project: i, version: i % 2 ? i : null });
  expect([store.project(4999), store.version(4999), store.version(4998), store.rowAt(0)]).toEqual([
    4999,
    4999,
    null,
    4999,
  ]);
});
