import { describe, expect, it } from "vitest";
import { HttpStatusError, UnexpectedShapeError } from "../../src/base/errors.ts";
import { serviceClientOver } from "../../src/client/service-client-over.ts";
import { createTestClient } from "../support/client.ts";
import { type Script, startScriptedServer } from "../support/scripted-server.ts";
import { wireUser } from "../support/wire-records.ts";

async function startService(script: Script, { prefix = "" } = {}) {
  const server = await startScriptedServer(script);
  const client = createTestClient(new URL(prefix, server.url), { retries: 0 });
  return {
    service: serviceClientOver(client),
    paths: () => server.requests.map(({ path }) => path),
    async [Symbol.asyncDispose]() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

const users = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => wireUser(String(from + index)));

const page = (objects: unknown[], next: string | null, limit = 1000) => ({
  body: { meta: { limit, offset: 0, next, previous: null, total_count: 9 }, objects },
});

const FIRST = page(users(0, 2), "/api/v1/user/?limit=2&offset=2");

/** A list of `size` users whose pages hold `most` records at most, without those in `hides`. Its `next` goes by a count of `counted`. */
function listOf(
  size: number,
  { most = 1000, path = "/api/v1/user/", counted = size, hides = [] as string[] } = {},
): Script {
  return (_, { searchParams }) => {
    const limit = Math.min(most, Number(searchParams.get("limit")));
    const offset = Number(searchParams.get("offset") ?? 0);
    const end = offset + limit;
    const next = end < counted ? `${path}?limit=${limit}&offset=${end}` : null;
    const slice = users(offset, Math.max(0, Math.min(limit, size - offset)));
    const shown = slice.filter(({ id }) => !hides.includes(String(id)));
    return page(shown, next, limit);
  };
}

async function idsOf(records: AsyncIterable<{ id: string }>): Promise<number[]> {
  const ids: number[] = [];
  for await (const { id } of records) ids.push(Number(id));
  return ids;
}

const upTo = (size: number) => Array.from({ length: size }, (_, index) => index);

describe("list", () => {
  it("follows next to the end, with the filters of the first request", async () => {
    await using own = await startService(listOf(7));
    const query = { filters: { username: "a&b" }, otherFilters: { left_out: undefined }, pageSize: 3 };
    expect(await idsOf(own.service.list("user", query))).toEqual(upTo(7));
    const first = "/api/v1/user/?username=a%26b&format=json&limit=3";
    expect(own.paths()).toEqual([first, `${first}&offset=3`, `${first}&offset=6`]);
  });

  it("leaves no gap where the service cuts the page size", async () => {
    await using own = await startService(listOf(7, { most: 2 }));
    expect(await idsOf(own.service.list("user", { pageSize: 1000 }))).toEqual(upTo(7));
    expect(own.paths()).toHaveLength(4);
  });

  it("leaves no gap where next lies further on than the records reach", async () => {
    const gap = page(users(0, 2), "/api/v1/user/?limit=2&offset=500");
    await using own = await startService([gap, page(users(2, 1), null)]);
    expect(await idsOf(own.service.list("user", { pageSize: 2 }))).toEqual(upTo(3));
    expect(own.paths()[1]).toContain("offset=2");
  });

  it.each([
    ["as many records as were asked for", { most: 1000, counted: 4 }, 2, 5],
    ["as many records as the service says that it gives", { most: 2, counted: 4 }, 1000, 5],
    ["its only record", { most: 1000, counted: 1 }, 1, 10],
  ])("reads on after a page without a next one that has %s", async (_, odd, pageSize, requests) => {
    await using own = await startService(listOf(9, odd));
    expect(await idsOf(own.service.list("user", { pageSize }))).toEqual(upTo(9));
    expect(own.paths()).toHaveLength(requests);
  });

  it("asks for one page more after a full last page alone, and gives no empty page", async () => {
    await using own = await startService(listOf(7));
    expect(await idsOf(own.service.list("user", { pageSize: 4 }))).toEqual(upTo(7));
    expect(own.paths()).toHaveLength(2);
    await using even = await startService(listOf(8));
    for await (const { objects } of even.service.listPages("user", { pageSize: 4 }))
      expect(objects).toHaveLength(4);
    expect(even.paths()).toHaveLength(3);
  });

  it("ends where a place after the end shows the last page again", async () => {
    await using own = await startService([FIRST, page(users(2, 2), null)]);
    expect(await idsOf(own.service.list("user", { pageSize: 2 }))).toEqual(upTo(4));
    expect(own.paths()).toHaveLength(3);
  });

  it("leaves no gap where records are taken out of a page", async () => {
    await using own = await startService(listOf(9, { hides: ["1", "5", "6"] }));
    const ids = await idsOf(own.service.list("user", { pageSize: 4 }));
    expect([...new Set(ids)]).toEqual([0, 2, 3, 4, 7, 8]);
  });

  it("goes on at the offset of an earlier reading", async () => {
    await using own = await startService(listOf(5));
    expect(await idsOf(own.service.list("user", { offset: 3 }))).toEqual([3, 4]);
  });

  const PATHS = ["/api/v1/user/", "/old/docs/api/v1/user/"];
  it.each(PATHS)("stays below the path of its base URL where next has the path %s", async (path) => {
    await using own = await startService(listOf(4, { path }), { prefix: "/old/docs" });
    expect(await idsOf(own.service.list("user", { pageSize: 2 }))).toEqual(upTo(4));
    expect(own.paths().every((asked) => asked.startsWith("/old/docs/api/v1/user/?"))).toBe(true);
  });

  it.each([
    ["names the page itself", "/api/v1/user/?limit=2&offset=0", /does not lead forward/],
    ["names another list", "/api/v1/build/?limit=2&offset=2", /is not in this list/],
    ["names another path", "http://evil.invalid/user/?limit=2&offset=2", /is not in this list/],
    ["names no offset", "/api/v1/user/?cursor=abc", /names no limit and offset/],
  ])("ends with an error, after its records, where next %s", async (_, next, message) => {
    await using own = await startService([page(users(0, 2), next)]);
    const seen: string[] = [];
    const reading = async () => {
      for await (const { id } of own.service.list("user", { pageSize: 2 })) seen.push(id);
    };
    await expect(reading()).rejects.toThrow(message);
    expect(seen).toEqual(["0", "1"]);
    expect(own.paths()).toHaveLength(1);
  });

  const EMPTY = page([], "/api/v1/user/?limit=2&offset=2");
  it.each([
    ["where empty pages go on", [EMPTY], UnexpectedShapeError, 1],
    ["where a page cannot be had", [FIRST, { status: 400, body: { error: "no" } }], HttpStatusError, 2],
  ])("ends with an error %s", async (_, script, error, requests) => {
    await using own = await startService(script);
    await expect(idsOf(own.service.list("user", { pageSize: 2 }))).rejects.toThrow(error);
    expect(own.paths()).toHaveLength(requests);
  });

  it("asks for a page only when the records of the one before are used", async () => {
    await using own = await startService(listOf(1_000_000));
    for await (const { id } of own.service.list("user", { pageSize: 2 })) if (id === "2") break;
    expect(own.paths()).toHaveLength(2);
  });

  it("stops between two records for the reason of its signal", async () => {
    await using own = await startService(listOf(100));
    const stop = new AbortController();
    const seen: string[] = [];
    const reading = async () => {
      for await (const { id } of own.service.list("user", { signal: stop.signal })) {
        seen.push(id);
        if (id === "3") stop.abort(new Error("enough"));
      }
    };
    await expect(reading()).rejects.toThrow("enough");
    expect(seen).toEqual(["0", "1", "2", "3"]);
  });

  it("stops while a page is under way, for the reason of its signal", async () => {
    const stop = new AbortController();
    await using own = await startService(() => {
      stop.abort(new Error("enough"));
      return { instead: "say nothing" };
    });
    await expect(idsOf(own.service.list("user", { signal: stop.signal }))).rejects.toThrow("enough");
  });

  it("ends with an error when the client is closed", async () => {
    await using own = await startService(listOf(100));
    const reading = async () => {
      for await (const { id } of own.service.list("user", { pageSize: 2 }))
        if (id === "1") await own.service.close();
    };
    await expect(reading()).rejects.toThrow("the client was closed");
  });
});

describe("versionsOf", () => {
  it("keeps to the project although next forgets it", async () => {
    const versions = (from: number) => users(from, 2).map((user) => ({ ...user, project: null }));
    await using own = await startService([
      page(versions(0), "/api/v1/version/?limit=2&offset=2"),
      page(versions(2), "/api/v1/version/pip/?limit=2&offset=4"),
      page(versions(4).slice(1), null),
    ]);
    expect(await idsOf(own.service.versionsOf("pip", { pageSize: 2 }))).toEqual([0, 1, 2, 3, 5]);
    const first = "/api/v1/version/pip/?format=json&limit=2";
    expect(own.paths()).toEqual([first, `${first}&offset=2`, `${first}&offset=4`]);
  });
});
