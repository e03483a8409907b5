import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ClientOptions } from "../../src/api/client.ts";
import { HttpStatusError, StoppedError, UnexpectedShapeError } from "../../src/errors.ts";
import { startSimulation } from "../../src/simulate/service.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { createWorld } from "../../src/simulate/world.ts";
import { createIdSet } from "../../src/walk/id-set.ts";
import type { Page } from "../../src/walk/page.ts";
import { createWalk, type Walk, type WalkOptions, type WalkOutcome } from "../../src/walk/walk.ts";
import { RESOURCES } from "../../src/wire/resources.ts";
import { createTestClient } from "../support/client.ts";
import {
  type ArrivedRequest,
  type Script,
  type ScriptedReply,
  startScriptedServer,
} from "../support/scripted-server.ts";

const LIST = "/api/v1/user/";

/** Takes every page; `onPage` may stop the walk. */
async function drain(
  walk: Walk,
  onPage?: (page: Page) => void,
): Promise<{ pages: Page[]; outcome: WalkOutcome }> {
  const pages: Page[] = [];
  const steps = walk.pages();
  for (;;) {
    const step = await steps.next();
    if (step.done) return { pages, outcome: step.value };
    pages.push(step.value);
    onPage?.(step.value);
  }
}

interface WalkTestOptions extends Partial<Omit<WalkOptions, "client" | "resource">> {
  client?: Partial<ClientOptions>;
  onPage?: (page: Page, walk: Walk) => void;
  prefix?: string;
}

async function walkScript(script: Script, options: WalkTestOptions = {}) {
  const { client: clientOptions, onPage, prefix = "", ...rest } = options;
  await using server = await startScriptedServer(script);
  await using client = createTestClient(new URL(prefix, server.url), { retries: 0, ...clientOptions });
  const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 2, lookAhead: 0, ...rest });
  const [settled] = await Promise.allSettled([drain(walk, (page) => onPage?.(page, walk))]);
  return {
    ...(settled?.status === "fulfilled" ? settled.value : { pages: [], outcome: null }),
    error: settled?.status === "rejected" ? settled.reason : null,
    asked: server.requests.map(({ path }) => path),
    ids: (settled?.status === "fulfilled" ? settled.value.pages : []).map((page) => page.ids.join(" ")),
  };
}

const page = (ids: string, next: string | null, meta: object = {}): ScriptedReply => ({
  body: {
    meta: { limit: 2, offset: 0, previous: null, total_count: 4, next, ...meta },
    objects: ids.split(" ").flatMap((id) => (id === "" ? [] : [{ id }])),
  },
});
const NEXT = `${LIST}?limit=2&offset=2`;

/** A list of so many records that pages as the real service does, at most `max` a page. */
function listOf(total: number, max = 1000): (request: ArrivedRequest, url: URL) => ScriptedReply {
  return (_, { pathname, searchParams }) => {
    const limit = Math.min(Number(searchParams.get("limit") ?? 20), max);
    const offset = Number(searchParams.get("offset") ?? 0);
    const ids = Array.from(
      { length: Math.max(0, Math.min(limit, total - offset)) },
      (_, place) => offset + place + 1,
    );
    const next = offset + limit < total ? `${pathname}?limit=${limit}&offset=${offset + limit}` : null;
    return page(ids.join(" "), next, { limit, offset, total_count: total });
  };
}

describe("a walk", () => {
  it("is whole when next is null and the distinct ids reach total_count", async () => {
    const { outcome, pages, ids, asked } = await walkScript([page("1 2", NEXT), page("3 4", null)]);
    expect(outcome).toEqual({ walk: "whole", reason: null, totalCount: 4, records: 4 });
    expect(ids).toEqual(["1 2", "3 4"]);
    expect(asked).toEqual([`${LIST}?format=json&limit=2`, `${LIST}?format=json&limit=2&offset=2`]);
    expect(pages).toMatchObject([
      { resource: "user", seq: 0, request: asked[0], records: [{ id: "1" }, { id: "2" }] },
      { resource: "user", seq: 1, request: asked[1], meta: { totalCount: 4, next: null } },
    ]);
  });

  it("of an empty list is whole", async () => {
    const { outcome } = await walkScript([page("", null, { total_count: 0 })]);
    expect(outcome).toMatchObject({ walk: "whole", records: 0 });
  });

  it.each([
    [
      "ids that come twice",
      [page("1 2", NEXT), page("2 3", null)],
      "3 distinct ids were seen where total_count says 4",
    ],
    ["a page that is too short", [page("1 2", NEXT), page("3", null)], "3 distinct ids"],
    ["a next that is null too early", [page("1 2", null)], "2 distinct ids"],
    [
      "records without an id",
      [page("1 2", NEXT), { body: { meta: { next: null, total_count: 4 }, objects: [{}, { id: "4" }] } }],
      "3 distinct ids",
    ],
    [
      "a total_count that is no number",
      [page("1 2", null, { total_count: "2" })],
      "total_count is no number",
    ],
    ["no total_count", [page("1 2", null, { total_count: undefined })], "total_count is no number"],
  ] as [string, ScriptedReply[], string][])("with %s is not whole", async (_, script, reason) => {
    const { outcome } = await walkScript(script);
    expect(outcome).toMatchObject({ walk: "not_whole", reason: expect.stringContaining(reason) });
  });

  it("judges by the total_count of its last page", async () => {
    const { outcome } = await walkScript([
      page("1 2", NEXT, { total_count: 9 }),
      page("3", null, { total_count: 3 }),
    ]);
    expect(outcome).toMatchObject({ walk: "whole", totalCount: 3 });
  });

  it("with more distinct ids than total_count is whole: records went while it walked", async () => {
    const { outcome } = await walkScript([page("1 2", NEXT), page("3", null, { total_count: 2 })]);
    expect(outcome).toMatchObject({ walk: "whole", records: 3 });
  });

  it("follows a limit that the server clamped", async () => {
    const { outcome, asked } = await walkScript(listOf(25, 10), { pageSize: 1000, lookAhead: 4 });
    expect(outcome).toMatchObject({ walk: "whole", records: 25 });
    expect(asked).toEqual([
      `${LIST}?format=json&limit=1000`,
      `${LIST}?format=json&limit=10&offset=10`,
      `${LIST}?format=json&limit=10&offset=20`,
    ]);
  });

  it.each([
    ["relative", NEXT, ""],
    ["with its parameters in another order", `${LIST}?offset=2&format=json&limit=2`, ""],
    ["below the base URL's prefix", `/old${NEXT}`, "/old"],
    ["without the base URL's prefix", NEXT, "/old"],
    ["of another size", `${LIST}?limit=50&offset=2`, ""],
  ])("follows a next that is %s", async (_, next, prefix) => {
    const { outcome, asked } = await walkScript([page("1 2", next), page("3 4", null)], { prefix });
    expect(outcome).toMatchObject({ walk: "whole" });
    expect(asked[1]).toMatch(new RegExp(`^${prefix}${LIST}\\?.*offset=2`));
  });

  it("follows an absolute next on the same origin", async () => {
    await using server = await startScriptedServer((_, { searchParams }) =>
      searchParams.has("offset") ? page("3 4", null) : page("1 2", new URL(NEXT, server.url).href),
    );
    await using client = createTestClient(server.url);
    const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 2, lookAhead: 2 });
    expect((await drain(walk)).outcome).toMatchObject({ walk: "whole" });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["on another host", `http://elsewhere.example${NEXT}`],
    ["protocol-relative on another host", `//elsewhere.example${NEXT}`],
    ["in another list", "/api/v1/project/?limit=2&offset=2"],
    ["outside the API", "/admin/?limit=2&offset=2"],
    ["to the same page", `${LIST}?limit=2&offset=0`],
    ["to the same page without an offset", `${LIST}?limit=2`],
    ["without a limit", `${LIST}?offset=2`],
    ["nowhere", ""],
    ["to an offset that is no number", `${LIST}?limit=2&offset=x`],
  ])("does not follow a next %s: it keeps the page and is not whole", async (_, next) => {
    const { outcome, ids, asked } = await walkScript([page("1 2", next)], { lookAhead: 3 });
    expect(outcome).toMatchObject({ walk: "not_whole", reason: expect.stringContaining("next should") });
    expect(ids).toEqual(["1 2"]);
    expect(asked).toHaveLength(1);
  });

  it("fails rather than loops when next leads back", async () => {
    const { outcome, asked } = await walkScript([page("1 2", NEXT), page("3", `${LIST}?limit=2&offset=1`)]);
    expect(outcome).toMatchObject({
      walk: "not_whole",
      reason: expect.stringContaining("leads to offset 1"),
    });
    expect(asked).toHaveLength(2);
  });

  it("ends at an empty page that has a next", async () => {
    const { outcome, asked } = await walkScript([page("", NEXT)], { lookAhead: 3 });
    expect(outcome).toMatchObject({ walk: "not_whole", reason: expect.stringContaining("holds no record") });
    expect(asked).toHaveLength(1);
  });

  it("goes on behind a page whose records have no ids", async () => {
    const nameless = { body: { meta: { next: NEXT, total_count: 4 }, objects: [{}, { id: null }] } };
    const { outcome, pages } = await walkScript([nameless, page("3 4", null)]);
    expect(pages).toMatchObject([{ ids: [], records: [{}, { id: null }] }, { ids: ["3", "4"] }]);
    expect(outcome).toMatchObject({ walk: "not_whole", records: 2 });
  });

  it.each([
    ["no objects", { meta: { next: null, total_count: 4 } }],
    ["no meta", { objects: [] }],
    ["no next", { meta: { limit: 2, total_count: 4 }, objects: [] }],
    ["an error object", { error: "Sorry" }],
  ])("fails at a page with %s, however far it came", async (_, body) => {
    const { error } = await walkScript([page("1 2", NEXT), { body }]);
    expect(error).toBeInstanceOf(UnexpectedShapeError);
  });

  it("fails with the client's error at a page that cannot be had", async () => {
    const { error, asked } = await walkScript([page("1 2", NEXT), { status: 500 }], {
      client: { retries: 1 },
    });
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(asked).toHaveLength(3);
  });
});

describe("asking ahead", () => {
  it("asks for every page once, gives them in order, and never beyond total_count", async () => {
    for (const [total, lookAhead] of [
      [100, 1],
      [101, 4],
      [99, 16],
      [7, 64],
    ] as const) {
      const { outcome, asked, pages } = await walkScript(listOf(total), { pageSize: 10, lookAhead });
      expect(outcome).toMatchObject({ walk: "whole", records: total });
      const expected = Array.from({ length: Math.ceil(total / 10) }, (_, place) => place * 10);
      const offsets = asked.map((path) => Number(new URLSearchParams(path.split("?")[1]).get("offset") ?? 0));
      expect(offsets.sort((one, other) => one - other)).toEqual(expected);
      expect(pages.map(({ seq, meta }) => [seq, meta.offset])).toEqual(
        expected.map((offset, seq) => [seq, offset]),
      );
    }
  });

  it("keeps so many requests under way", async () => {
    let inFlight = 0;
    let peak = 0;
    const list = listOf(100);
    const script: Script = async (request, url) => {
      peak = Math.max(peak, ++inFlight);
      await new Promise((resolve) => setTimeout(resolve, 5));
      inFlight -= 1;
      return list(request, url);
    };
    await walkScript(script, { pageSize: 5, lookAhead: 4, client: { concurrency: 8 } });
    expect(peak).toBe(4);
  });

  it("never takes a page that next did not name, and gives up asking once next jumps", async () => {
    const jumping: Script = (_, { searchParams }) => {
      const offset = Number(searchParams.get("offset") ?? 0);
      const step = 10 + (offset % 7);
      const next = offset + step < 200 ? `${LIST}?limit=10&offset=${offset + step}` : null;
      return page(`at${offset}`, next, { offset, total_count: 200 });
    };
    const ahead = await walkScript(jumping, { pageSize: 10, lookAhead: 4 });
    const plain = await walkScript(jumping, { pageSize: 10, lookAhead: 0 });
    expect(ahead.ids).toEqual(plain.ids);
    expect(ahead.asked.length - plain.asked.length).toBeLessThanOrEqual(4);
  });

  it("does not ask ahead where pages are large", async () => {
    const big = "x".repeat(5 * 1024 * 1024);
    const script: Script = (_, { searchParams }) => {
      const offset = Number(searchParams.get("offset") ?? 0);
      const next = offset < 4 ? `${LIST}?limit=1&offset=${offset + 1}` : null;
      return { body: { meta: { next, total_count: 5 }, objects: [{ id: `${offset}`, big }] } };
    };
    const arrivedBefore: number[] = [];
    await using server = await startScriptedServer(script);
    await using client = createTestClient(server.url, { maxBodyBytes: 64 * 1024 * 1024 });
    const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 1, lookAhead: 8 });
    const { outcome } = await drain(walk, () => arrivedBefore.push(server.requests.length));
    expect(outcome.walk).toBe("whole");
    expect(arrivedBefore).toEqual([1, 2, 3, 4, 5]);
  });

  it("lets a failure count only when its page is needed", async () => {
    const list = listOf(50);
    const script: Script = (request, url) =>
      url.searchParams.get("offset") === "20" ? { status: 500 } : list(request, url);
    const stopped = await walkScript(script, {
      pageSize: 10,
      lookAhead: 4,
      onPage: (one, walk) => one.seq === 1 && walk.stop(),
    });
    expect(stopped.outcome).toMatchObject({ walk: "head", records: 20 });
    expect((await walkScript(script, { pageSize: 10, lookAhead: 4 })).error).toBeInstanceOf(HttpStatusError);
  });
});

describe("a walk over pages of any size", () => {
  it("sees every record once and ends whole", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 5 }),
        async (sizes, lookAhead) => {
          const starts = sizes.map((_, place) => sizes.slice(0, place).reduce((sum, size) => sum + size, 0));
          const total = sizes.reduce((sum, size) => sum + size, 0);
          const script: Script = (_, { searchParams }) => {
            const offset = Number(searchParams.get("offset") ?? 0);
            const size = sizes[starts.indexOf(offset)] ?? 1;
            const ids = Array.from({ length: size }, (_, place) => offset + place);
            const next = offset + size < total ? `${LIST}?limit=${size}&offset=${offset + size}` : null;
            return page(ids.join(" "), next, { total_count: total });
          };
          const { outcome, ids } = await walkScript(script, { lookAhead });
          expect(outcome).toMatchObject({ walk: "whole", records: total });
          expect(ids.join(" ").split(" ").map(Number)).toEqual(
            Array.from({ length: total }, (_, place) => place),
          );
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe("a walk that is interrupted", () => {
  it("goes on at its checkpoint, and what was seen before counts", async () => {
    const seen = createIdSet();
    for (const id of ["1", "2", "3", "4"]) seen.add(id);
    const resume = { seq: 2, request: `${LIST}?format=json&limit=2&offset=4`, seen };
    const { outcome, pages, asked } = await walkScript(listOf(7), { resume, lookAhead: 2 });
    expect(asked[0]).toBe(resume.request);
    expect(pages.map(({ seq }) => seq)).toEqual([2, 3]);
    expect(outcome).toEqual({ walk: "whole", reason: null, totalCount: 7, records: 7 });
  });

  it("begins anew where its checkpoint cannot be read", async () => {
    const { outcome, pages } = await walkScript(listOf(3), {
      resume: { seq: 5, request: "/api/v1/user/", seen: createIdSet() },
    });
    expect(pages.map(({ seq }) => seq)).toEqual([0, 1]);
    expect(outcome).toMatchObject({ walk: "whole", records: 3 });
  });

  it("by stop() ends after the page at hand, and nothing more is asked for", async () => {
    await using server = await startScriptedServer(listOf(1000));
    await using client = createTestClient(server.url);
    const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 10, lookAhead: 4 });
    const { outcome, pages } = await drain(walk, ({ seq }) => seq === 2 && walk.stop());
    expect(outcome).toEqual({ walk: "head", reason: null, totalCount: 1000, records: 30 });
    expect(pages).toHaveLength(3);
    expect(server.requests.length).toBeLessThanOrEqual(7);
  });

  it("by an abort fails with the reason, also for the page that it waits for", async () => {
    const stop = new AbortController();
    await using server = await startScriptedServer((_, { searchParams }) =>
      searchParams.has("offset") ? { instead: "say nothing" } : page("1 2", NEXT),
    );
    await using client = createTestClient(server.url);
    const { signal } = stop;
    const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 2, lookAhead: 1, signal });
    const draining = drain(walk);
    draining.catch(() => {});
    await server.arrived(2);
    stop.abort(new StoppedError("SIGINT"));
    await expect(draining).rejects.toBe(signal.reason);
  });

  it("by its consumer leaves no request behind", async () => {
    await using server = await startScriptedServer((_, { searchParams }) =>
      searchParams.has("offset") ? { instead: "say nothing" } : page("1 2", NEXT, { total_count: 100 }),
    );
    await using client = createTestClient(server.url, { concurrency: 3 });
    const walk = createWalk({ client, resource: "user", listPath: LIST, pageSize: 2, lookAhead: 3 });
    for await (const _ of walk.pages()) {
      await server.arrived(4);
      break;
    }
    // All three places in the queue are free again: a request that no longer waits for them gets through.
    const other = client.fetchJson("/api/v1/", { parse: (value) => value });
    expect(await other).toMatchObject({ value: { meta: { total_count: 100 } } });
  });
});

describe("a remembered page", () => {
  const body = JSON.stringify(page("1 2", NEXT).body);
  const remembered = {
    request: `${LIST}?format=json&limit=2`,
    bodyHash: createHash("sha256").update(body).digest("hex"),
    meta: { limit: 2, offset: 0, next: NEXT, totalCount: 4 },
    ids: ["1", "2"],
  };
  const script = [{ body }, page("3 4", null)];
  const recall = (one: typeof remembered) => async (seq: number) => (seq === 0 ? one : null);

  it("that comes again is not parsed: its ids count and its records stay out", async () => {
    const { outcome, pages } = await walkScript(script, { remember: recall(remembered) });
    expect(outcome).toMatchObject({ walk: "whole", records: 4 });
    expect(pages.map(({ records }) => records?.length ?? null)).toEqual([null, 2]);
    expect(pages[0]).toMatchObject({ ids: ["1", "2"], bytes: body.length, meta: remembered.meta });
  });

  it.each([
    ["of another body", { ...remembered, bodyHash: "0".repeat(64) }],
    ["of another request", { ...remembered, request: `${LIST}?format=json&limit=3` }],
    ["without ids", { ...remembered, ids: [] }],
  ])("%s is read anew", async (_, one) => {
    const { pages } = await walkScript(script, { remember: recall(one) });
    expect(pages.map(({ records }) => records?.length ?? null)).toEqual([2, 2]);
  });
});

describe("the simulated service", () => {
  it.each(RESOURCES)("is walked whole: every listed %s once, as it is in truth", async (resource) => {
    const world = createWorld({
      users: 25,
      projects: 20,
      versions: 45,
      files: 33,
      builds: 101,
      rates: QUIET,
      basePath: "/old",
    });
    const service = await startSimulation({ world });
    await using client = createTestClient(service.url);
    try {
      const listPath = `/old/api/v1/${resource}/`;
      const walk = createWalk({ client, resource, listPath, pageSize: 7, lookAhead: 4 });
      const { outcome, pages } = await drain(walk);
      const truth = [...world.truth().records(resource)].filter(({ listed }) => listed);
      expect(outcome).toEqual({
        walk: "whole",
        reason: null,
        totalCount: truth.length,
        records: truth.length,
      });
      const ids = pages.flatMap((one) => one.ids);
      expect(ids.sort()).toEqual(truth.map(({ record }) => record.id).sort());
    } finally {
      await service.close();
    }
  });
});
