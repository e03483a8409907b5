import { describe, expect, it, test } from "vitest";
import { HttpStatusError, StoppedError, UnexpectedShapeError } from "../../../src/base/errors.ts";
import type { ClientOptions } from "../../../src/mirror/api/client.ts";
import { createCourse, type WalkOutcome } from "../../../src/mirror/walk/course.ts";
import type { Page } from "../../../src/mirror/walk/page.ts";
import { createPageSize } from "../../../src/mirror/walk/page-size.ts";
import { createPageSource } from "../../../src/mirror/walk/page-source.ts";
import { createWalk, type Walk } from "../../../src/mirror/walk/walk.ts";
import { requestText } from "../../../src/resources/page-request.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { createTestClient } from "../../support/client.ts";
import {
  type ArrivedRequest,
  type Script,
  type ScriptedReply,
  startScriptedServer,
} from "../../support/scripted-server.ts";

const LIST = "/api/v1/user/";

interface SetUpOptions {
  /** Whether the size of the pages is found, from 100 on. @default false */
  isSized?: boolean;
  client?: Partial<ClientOptions>;
  resource?: Resource;
  listPath?: string;
  /** @default 4 */
  pageSize?: number;
  /** @default 0 */
  lookAhead?: number;
  seq?: number;
  signal?: AbortSignal;
}

function setUp(baseUrl: URL, { isSized, client: more, ...options }: SetUpOptions = {}) {
  const { resource = "user", listPath = LIST, pageSize = 4, lookAhead = 0, ...others } = options;
  const client = createTestClient(baseUrl, { retries: 0, concurrency: 4, ...more });
  const isListPath = (path: string) => new URL(path, baseUrl).href === new URL(listPath, baseUrl).href;
  const course = createCourse({ resource, listPath, pageSize, isListPath });
  const source = createPageSource({ client, resource, lookAhead, ...others });
  const size = isSized ? createPageSize(null) : null;
  return { client, walk: createWalk({ resource, course, source, size, ...others }), course };
}

async function drain(walk: Walk, onPage?: (page: Page) => void, pages: Page[] = []) {
  const steps = walk.pages();
  for (;;) {
    const step = await steps.next();
    if (step.done) return { pages, outcome: step.value as WalkOutcome };
    pages.push(step.value);
    onPage?.(step.value);
  }
}

async function walkScript(
  script: Script,
  { onPage, ...options }: SetUpOptions & { onPage?: (page: Page, walk: Walk) => void } = {},
) {
  await using server = await startScriptedServer(script);
  const { client, walk, course } = setUp(server.url, options);
  await using _client = client;
  const pages: Page[] = [];
  const ended = await drain(walk, (page) => onPage?.(page, walk), pages).then(
    ({ outcome }) => ({ outcome, error: null }),
    (error: unknown) => ({ outcome: null, error }),
  );
  const asked = server.requests.map(({ path }) => shortOf(path));
  return { pages, verdict: course.verdict, asked, ...ended };
}

function shortOf(path: string): string {
  const query = new URLSearchParams(path.split("?")[1]);
  return `${query.get("limit")}@${query.get("offset") ?? 0}`;
}

const envelope = (ids: readonly unknown[], next: string | null, total: number, more: object = {}) => ({
  body: { meta: { next, total_count: total }, objects: ids.map((id) => ({ id, ...more })) },
});

function listOf(
  total: number,
  replace: (ids: number[], request: ArrivedRequest) => ScriptedReply | null = () => null,
): Exclude<Script, readonly ScriptedReply[]> {
  return (request, { pathname, searchParams }) => {
    const limit = Number(searchParams.get("limit"));
    const offset = Number(searchParams.get("offset") ?? 0);
    const end = Math.min(total, offset + limit);
    const ids = Array.from({ length: Math.max(0, end - offset) }, (_, at) => offset + at);
    const next = end < total ? `${pathname}?limit=${limit}&offset=${offset + limit}` : null;
    return replace(ids, request) ?? envelope(ids, next, total);
  };
}

/** A service that answers has the time that it takes. */
const limitFor = ({ instead }: ScriptedReply) => ({ timeoutMs: instead === undefined ? 60_000 : 2000 });

/** It waits out its time several times over. */
const SILENCE: ScriptedReply = { instead: "say nothing" };
const WHOLE = { walk: "whole", reason: null };
const numbers = (end: number) => Array.from({ length: end }, (_, at) => String(at));

describe("a walk", () => {
  it("gives each page its place, its request and the request behind it", async () => {
    const { pages, outcome, verdict, asked } = await walkScript(listOf(7));
    expect(outcome).toEqual({ ...WHOLE, totalCount: 7, records: 7 });
    expect(verdict).toBe("still list");
    expect(asked).toEqual(["4@0", "4@2", "4@4"]);
    const text = (offset: number) => `${LIST}?format=json&limit=4${offset ? `&offset=${offset}` : ""}`;
    const shared = { resource: "user", holes: [], isAnchored: true };
    expect(pages).toMatchObject([
      { ...shared, seq: 0, request: text(0), following: text(2), ids: ["0", "1", "2", "3"] },
      { ...shared, seq: 1, request: text(2), following: text(4), ids: ["2", "3", "4", "5"] },
      { ...shared, seq: 2, request: text(4), following: null, ids: ["4", "5", "6"] },
    ]);
    expect(pages[0]?.records).toEqual([{ id: 0 }, { id: 1 }, { id: 2 }, { id: 3 }]);
  });

  it("counts its pages from where an earlier part of it ended", async () => {
    const { pages } = await walkScript(listOf(7), { seq: 7 });
    expect(pages.map(({ seq }) => seq)).toEqual([7, 8, 9]);
  });

  it("gives a page without an anchor too, and says so", async () => {
    let isCut = false;
    const script: Script = (request, url) => {
      const offset = Number(url.searchParams.get("offset") ?? 0);
      if (offset >= 8) isCut = true;
      if (!isCut) return listOf(20)(request, url);
      const limit = Number(url.searchParams.get("limit"));
      const rest = numbers(20).slice(8);
      const next = offset + limit < 12 ? `${LIST}?limit=${limit}&offset=${offset + limit}` : null;
      return envelope(rest.slice(offset, offset + limit), next, 12);
    };
    const { pages, outcome, asked } = await walkScript(script);
    // Eight fewer are a page and an overlap.
    expect(asked.slice(0, 7)).toEqual(["4@0", "4@2", "4@4", "4@6", "4@8", "4@2", "4@0"]);
    expect(pages.slice(0, 7).map(({ isAnchored }) => Number(isAnchored))).toEqual([1, 1, 1, 1, 0, 0, 1]);
    expect(pages[4]?.following).toContain("offset=2");
    expect(outcome).toMatchObject({ ...WHOLE, totalCount: 12, records: 20 });
  });

  it("asks ahead for nothing that it does not take, while the list is still", async () => {
    for (const lookAhead of [0, 1, 4, 16]) {
      const { outcome, asked, pages } = await walkScript(listOf(101), { pageSize: 10, lookAhead });
      expect(outcome).toMatchObject({ ...WHOLE, records: 101 });
      expect(asked).toHaveLength(pages.length);
      expect(new Set(asked).size).toBe(asked.length);
    }
  });

  it.each([
    ["relative", (next: string) => next],
    ["absolute on the same origin", (next: string, url: URL) => new URL(next, url).href],
    ["with its parameters turned", (next: string) => next.replace(/(limit=\d+)&(.*)/, "$2&format=json&$1")],
  ])("follows a next that is %s", async (_, spell) => {
    await using server = await startScriptedServer((request, { searchParams }) => {
      const base = new URL(`http://${request.headers.host}`);
      return searchParams.has("offset")
        ? envelope([2, 3, 4], null, 5)
        : envelope([0, 1, 2, 3], spell(`${LIST}?limit=4&offset=4`, base), 5);
    });
    const { client, walk } = setUp(server.url);
    await using _client = client;
    expect((await drain(walk)).outcome).toMatchObject({ ...WHOLE, records: 5 });
    expect(server.requests).toHaveLength(2);
  });

  it.each([
    ["no objects", { meta: { next: null, total_count: 4 } }],
    ["an error object", { error: "Sorry" }],
    ["a record in the place of a list", { id: 3, username: "ada" }],
  ])("fails at a page with %s, which is not narrowed", async (_, body) => {
    const script = listOf(9, ([first]) => (first === 2 ? { body } : null));
    const { error, pages, asked } = await walkScript(script);
    expect(error).toBeInstanceOf(UnexpectedShapeError);
    expect(pages).toHaveLength(1);
    expect(asked).toEqual(["4@0", "4@2"]);
  });
});

describe("a page that cannot be rendered", () => {
  const withBad = (status: number, ...bad: number[]) =>
    listOf(20, (ids) => (ids.some((id) => bad.includes(id)) ? { status, body: "Sorry" } : null));

  it.each([400, 500])("with status %i is narrowed to the record at fault", async (status) => {
    const { pages, outcome, verdict } = await walkScript(withBad(status, 5), { pageSize: 8, lookAhead: 2 });
    const request = `${LIST}?format=json&limit=1&offset=5`;
    const reason = expect.stringContaining(String(status));
    expect(pages.flatMap(({ holes }) => holes)).toEqual([{ offset: 5, request, reason }]);
    const others = numbers(20).filter((id) => id !== "5");
    expect(new Set(pages.flatMap((page) => page.ids))).toEqual(new Set(others));
    expect(outcome).toMatchObject({ walk: "not_whole", records: 19 });
    expect(outcome?.reason).toContain("cannot render 1 of its records, at offset 5");
    expect(verdict).toBe("holes");
  });

  it("gives its holes with the page behind them", async () => {
    const { pages } = await walkScript(withBad(500, 3, 4), { pageSize: 4 });
    const holes = pages.filter((page) => page.holes.length > 0);
    expect(holes).toHaveLength(1);
    expect(holes[0]).toMatchObject({ holes: [{ offset: 3 }, { offset: 4 }], ids: ["5"] });
  });

  it("because one record makes its body too large is narrowed too", async () => {
    const script = listOf(12, (ids) =>
      ids.includes(7) ? envelope(ids, null, 12, { big: "x".repeat(70_000) }) : null,
    );
    const { pages, outcome } = await walkScript(script, { client: { maxBodyBytes: 65_536 } });
    expect(pages.flatMap(({ holes }) => holes.map(({ offset }) => offset))).toEqual([7]);
    expect(outcome).toMatchObject({ walk: "not_whole", records: 11 });
  });

  it.for<[string, ScriptedReply]>([
    ["answers 502", { status: 502, body: "" }],
    ["answers 504", { status: 504, body: "" }],
  ])("and %s is narrowed while the API's root answers", ([, refusal]) => isNarrowed(refusal));
  it("and is not answered is narrowed while the API's root answers", { tags: ["long"] }, () =>
    isNarrowed(SILENCE),
  );

  async function isNarrowed(refusal: ScriptedReply): Promise<void> {
    const script: Script = (request, url) => {
      if (url.pathname === "/api/v1/") return { body: {} };
      return listOf(20, (ids) => (ids.includes(5) ? refusal : null))(request, url);
    };
    const { pages, outcome } = await walkScript(script, { pageSize: 8, client: limitFor(refusal) });
    expect(pages.flatMap(({ holes }) => holes.map(({ offset }) => offset))).toEqual([5]);
    expect(outcome).toMatchObject({ walk: "not_whole", records: 19 });
  }

  it.each([403, 404, 429])("with status %i fails the walk at once", async (status) => {
    const { error, asked } = await walkScript(withBad(status, 5));
    expect(error).toBeInstanceOf(HttpStatusError);
    expect(asked).toEqual(["4@0", "4@2"]);
  });

  it.for<[string, ScriptedReply]>([
    ["answers 504", { status: 504, body: "" }],
    ["answers 500", { status: 500, body: "" }],
  ])("that was enlarged and %s is asked for in the size that was set", ([, refusal]) => isSetBack(refusal));
  it("that was enlarged and does not answer is asked for in the size that was set", { tags: ["long"] }, () =>
    isSetBack(SILENCE),
  );

  async function isSetBack(refusal: ScriptedReply): Promise<void> {
    // The list grew while it was read, so it is read again, with larger pages.
    let total = 11;
    const script: Script = (request, url) => {
      if (Number(url.searchParams.get("limit")) > 4) return refusal;
      const reply = listOf(total)(request, url);
      if (url.searchParams.get("offset") === "4") total = 12;
      return reply;
    };
    const { outcome, verdict, asked } = await walkScript(script, { client: limitFor(refusal) });
    expect(outcome).toEqual({ ...WHOLE, totalCount: 12, records: 12 });
    expect(verdict).toBe("two proven passes");
    expect(asked).toContain("40@0");
    // Where the last pass begins depends on how late the refusal came.
    expect(asked.slice(-5).filter((one) => !one.startsWith("4@"))).toEqual([]);
  }

  it("fails the walk when no record of the list can be rendered", async () => {
    const { error, asked, pages } = await walkScript([{ status: 500 }], { pageSize: 100 });
    expect(error).toMatchObject({ status: 500 });
    expect(pages).toEqual([]);
    expect(asked.slice(0, 8)).toEqual(["100@0", "50@0", "25@0", "12@0", "6@0", "3@0", "1@0", "1@1"]);
    expect(asked.length).toBeLessThan(40);
  });
});

describe("a walk that is interrupted", () => {
  const FIRST = envelope([0, 1, 2, 3], `${LIST}?limit=4&offset=4`, 9);
  const firstAlone: Script = (_, { searchParams }) =>
    searchParams.has("offset") ? { instead: "say nothing" } : FIRST;

  it("by stop() ends behind the page at hand, and nothing more is asked for", async () => {
    const { outcome, pages, asked } = await walkScript(listOf(1000), {
      pageSize: 10,
      onPage: ({ seq }, walk) => seq === 2 && walk.stop(),
    });
    expect(outcome).toEqual({ walk: "head", reason: null, totalCount: 1000, records: 26 });
    expect(pages).toHaveLength(3);
    expect(asked).toHaveLength(3);
  });

  it("by stop() at its last page is still no more than the head of the list", async () => {
    const { outcome } = await walkScript(listOf(3), { onPage: (_, walk) => walk.stop() });
    expect(outcome).toEqual({ walk: "head", reason: null, totalCount: 3, records: 3 });
  });

  it("by stop() at a page without an anchor goes on to one that counts", async () => {
    const script: Script = (_, { searchParams }) =>
      searchParams.get("offset") === "2" ? envelope([7, 8, 9], null, 9) : FIRST;
    const { outcome, pages } = await walkScript(script, {
      onPage: ({ isAnchored }, walk) => !isAnchored && walk.stop(),
    });
    expect(pages.map(({ isAnchored }) => isAnchored)).toEqual([true, false, true]);
    expect(outcome).toMatchObject({ walk: "head" });
  });

  it("by an abort fails with the reason, also for the page that it waits for", async () => {
    const stop = new AbortController();
    await using server = await startScriptedServer(firstAlone);
    const options = { timeoutMs: 1_000_000 };
    const { client, walk } = setUp(server.url, { lookAhead: 1, signal: stop.signal, client: options });
    await using _client = client;
    const draining = drain(walk);
    draining.catch(() => {});
    await server.arrived(2);
    stop.abort(new StoppedError("SIGINT"));
    await expect(draining).rejects.toBe(stop.signal.reason);
  });

  it("by an abort narrows nothing any more", async () => {
    const stop = new AbortController();
    const script: Script = () => {
      stop.abort(new StoppedError("SIGTERM"));
      return { status: 500 };
    };
    const { error, asked } = await walkScript(script, { pageSize: 100, signal: stop.signal });
    expect(error).toBe(stop.signal.reason);
    expect(asked).toHaveLength(1);
  });

  it("by its consumer leaves no request behind", async () => {
    await using server = await startScriptedServer(firstAlone);
    const { client, walk } = setUp(server.url, { lookAhead: 3, client: { concurrency: 3 } });
    await using _client = client;
    for await (const _ of walk.pages()) {
      await server.arrived(4);
      break;
    }
    // All three places in the queue are free again: a request that waits for one gets through.
    const other = client.fetchJson("/api/v1/", { parse: (value) => value });
    expect(await other).toMatchObject({ value: { meta: { total_count: 9 } } });
  });
});

test("a walk that rested knows its night by a page behind which all was read since", async () => {
  const course = createCourse({ resource: "user", listPath: LIST, pageSize: 4, isListPath: () => true });
  const numbers = (from: number) => [0, 1, 2, 3].map((at) => String(from + at));
  const reply = (ids: string[]) => ({
    ids,
    dates: null,
    records: ids,
    bodyHash: "",
    bytes: 1,
    tookMs: 1,
    askedAt: new Date(0),
    observedAt: new Date(0),
    meta: {
      limit: 4,
      offset: 0,
      next: `${LIST}?limit=4&offset=900`,
      totalCount: 40,
      count: 4,
      showsOrder: true,
    },
  });
  for (let from = 0; from <= 8; from += 2) course.read(reply(numbers(from)));
  // The night begins too early. The second page joins what was covered before, and not the first one.
  const pages = [0, 8, 10].map((from) => reply(numbers(from)));
  const walk = createWalk({
    resource: "user",
    course,
    shift: -40,
    most: 2,
    source: {
      lookAhead: 0,
      pending: [],
      askAhead() {},
      close() {},
      isServiceUp: async () => true,
      async take(request) {
        return { ...(pages.shift() ?? reply([])), request: requestText(request) };
      },
    },
  });
  await drain(walk);
  expect(walk.first).toEqual(numbers(8));
});
