import { describe, expect, it } from "vitest";
import type { Catalog, ListRequest } from "../../../src/serve/protocol/catalog.ts";
import { createKeptLines, serveWorld, worldCatalog } from "./simulated-app.ts";

/** A catalog in which lists that `isSlow` wait until they are let go. */
function slowCatalog(isSlow: (query: ListRequest) => boolean, more: object = {}) {
  const catalog = worldCatalog();
  const waiting: (() => void)[] = [];
  let isOpen = false;
  const open = () => {
    isOpen = true;
    for (const go of waiting.splice(0)) go();
  };
  const list: Catalog["list"] = async (resource, query) => {
    if (isSlow(query) && !isOpen) await new Promise<void>((resolve) => waiting.push(resolve));
    const slice = await catalog.list(resource, query);
    return { ...slice, records: slice.records.map((record) => ({ ...record, ...more })) };
  };
  return { list, waiting, open };
}

const isLarge = ({ limit }: ListRequest) => limit > 20;
const largePage = (nth: number) => `/api/v1/build/?limit=1000&state=none&offset=${nth}`;
const BUSY = "Too many large replies wait. Ask for fewer records at once, or try again later.";

describe("large replies", () => {
  it("are made two at once, and small ones pass those that wait", async () => {
    const { list, waiting, open } = slowCatalog(isLarge);
    await using app = await serveWorld({ list });
    const large = Array.from({ length: 10 }, (_, nth) => app.get(largePage(nth)));
    await expect.poll(() => waiting.length).toBe(2);
    for (const path of ["/api/v1/build/", "/api/v1/user/", "/api/v1/user/5/", "/api/v1/file/?limit=5"])
      expect((await app.get(path)).status).toBe(200);
    expect(waiting.length).toBe(2);
    open();
    expect((await Promise.all(large)).map(({ status }) => status)).toEqual(Array(10).fill(200));
  });

  it("are known by the bytes of the pages before", { tags: ["long"] }, async () => {
    const { list, waiting } = slowCatalog(() => true, { output: "x".repeat(100_000) });
    await using app = await serveWorld({ list });
    const page = (nth: number) => app.get(`/api/v1/build/?limit=10&offset=${nth}`);
    const first = Array.from({ length: 10 }, (_, nth) => page(nth));
    await expect.poll(() => waiting.length).toBe(10);
    for (const go of waiting.splice(0)) go();
    await Promise.all(first);
    const next = Array.from({ length: 3 }, (_, nth) => page(10 + nth));
    await expect.poll(() => waiting.length).toBe(2);
    for (const go of waiting.splice(0)) go();
    await expect.poll(() => waiting.length).toBe(1);
    waiting.shift()?.();
    await Promise.all(next);
  });

  it("are refused by 503 when too many wait", { tags: ["long"] }, async () => {
    const { list, open } = slowCatalog(isLarge);
    await using app = await serveWorld({ list });
    const asked = Array.from({ length: 203 }, (_, nth) => app.get(largePage(nth)));
    const refused = await Promise.race(asked);
    expect([refused.status, await refused.json()]).toEqual([503, { error: BUSY }]);
    expect(Object.fromEntries(refused.headers)).toMatchObject({
      "retry-after": "10",
      "cache-control": "no-store",
    });
    open();
    const statuses = (await Promise.all(asked)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200).length).toBe(202);
  });

  it("are not made for readers who left while they waited, which is no fault", async () => {
    const { list, waiting } = slowCatalog(isLarge);
    const { log, lines } = createKeptLines("debug");
    await using app = await serveWorld({ list }, {}, log);
    const inside = [app.get(largePage(0)), app.get(largePage(1))];
    await expect.poll(() => waiting.length).toBe(2);
    const leave = new AbortController();
    const left = app.get(largePage(2), {}, { signal: leave.signal }).catch(() => "left");
    const small = await app.get("/api/v1/user/5/");
    expect(small.status).toBe(200);
    leave.abort();
    expect(await left).toBe("left");
    await expect.poll(() => lines.map(({ status }) => status)).toContain(503);
    for (const go of waiting.splice(0)) go();
    await Promise.all(inside);
    expect(waiting.length).toBe(0);
    expect(lines.filter(({ level }) => Number(level) > 20)).toEqual([]);
  });
});
