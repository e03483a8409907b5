import { describe, expect, it } from "vitest";
import { createListSlices } from "../../../src/serve/catalog/list-slice.ts";
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
