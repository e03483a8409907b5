import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { HttpStatusError, StoppedError } from "../../../src/base/errors.ts";
import type { ClientOptions } from "../../../src/mirror/api/client.ts";
import { createLookAheadRoom } from "../../../src/mirror/walk/look-ahead.ts";
import { createPageSource, type PageSourceOptions } from "../../../src/mirror/walk/page-source.ts";
import { type PageRequest, parsePageRequest, requestText } from "../../../src/resources/page-request.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

const LIST = "/api/v1/user/";
const at = (offset: number, limit = 10): PageRequest => ({
  path: LIST,
  others: "format=json",
  limit,
  offset,
});
const offsetOf = (link: string) => parsePageRequest(link)?.offset;

/** A page whose one record is named for its offset. */
const reply = (url: URL): ScriptedReply => ({
  body: {
    meta: { limit: 10, next: null, total_count: 1000 },
    objects: [{ id: `at${url.searchParams.get("offset") ?? 0}` }],
  },
});
const answer: Script = (_, url) => reply(url);

interface SetUpOptions extends Partial<Omit<PageSourceOptions, "client">> {
  client?: Partial<ClientOptions>;
}

async function setUp(script: Script, { client: clientOptions, ...options }: SetUpOptions = {}) {
  const server = await startScriptedServer(script);
  const client = createTestClient(server.url, { retries: 0, concurrency: 8, ...clientOptions });
  const source = createPageSource({ client, resource: "user", lookAhead: 4, ...options });
  return {
    server,
    client,
    source,
    offsets: () => server.requests.map(({ path }) => offsetOf(path)),
    async [Symbol.asyncDispose]() {
      source.close();
      await client[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("a page source", () => {
  it("gives the page that was asked for", async () => {
    await using it = await setUp(answer);
    expect(await it.source.take(at(20), 0)).toMatchObject({
      request: requestText(at(20)),
      ids: ["at20"],
      records: [{ id: "at20" }],
      meta: { totalCount: 1000, count: 1, next: null },
      bodyHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      askedAt: expect.any(Date),
      observedAt: expect.any(Date),
    });
  });

  it("dates a page asked for ahead by when it was asked for, not by when it is taken", async () => {
    const clock = createFakeClock();
    await using it = await setUp(answer, { client: { clock } });
    it.source.askAhead(at(10), 1, 10, 20, 1);
    await it.server.arrived(1);
    await clock.sleep(1000);
    expect(await it.source.take(at(10), 1)).toMatchObject({ askedAt: new Date("2024-05-15T12:00:00Z") });
  });

  it("tries a page as often as the client does, or as often as it is told", async () => {
    await using it = await setUp([{ status: 500 }], { client: { retries: 2 } });
    await expect(it.source.take(at(0), 0)).rejects.toBeInstanceOf(HttpStatusError);
    expect(it.server.requests).toHaveLength(3);
    await expect(it.source.take(at(0), 0, 1)).rejects.toBeInstanceOf(HttpStatusError);
    expect(it.server.requests).toHaveLength(5);
  });

  it("fails with the reason of an abort, also for the page that is under way", async () => {
    const stop = new AbortController();
    await using it = await setUp([{ instead: "say nothing" }], { signal: stop.signal });
    const taking = it.source.take(at(0), 0);
    taking.catch(() => {});
    await it.server.arrived(1);
    stop.abort(new StoppedError("SIGINT"));
    await expect(taking).rejects.toBe(stop.signal.reason);
  });
});

describe("asking ahead", () => {
  it("asks for each page once, a step apart, and never beyond the end", async () => {
    await using it = await setUp(answer);
    await it.source.take(at(0), 0);
    it.source.askAhead(at(8), 1, 8, 30, 1);
    await it.server.arrived(4);
    for (const [place, offset] of [8, 16, 24].entries()) {
      expect((await it.source.take(at(offset), place + 1)).ids).toEqual([`at${offset}`]);
      it.source.askAhead(at(offset + 8), place + 2, 8, 30, 1);
    }
    expect(it.offsets().sort((one = 0, other = 0) => one - other)).toEqual([0, 8, 16, 24]);
  });

  it("keeps so many requests under way", async () => {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await using it = await setUp(async (_, url) => {
      await released;
      return reply(url);
    });
    it.source.askAhead(at(10), 0, 10, 1000, 1);
    await it.server.arrived(4);
    const taking = it.source.take(at(10), 0);
    it.source.askAhead(at(20), 1, 10, 1000, 1);
    await it.server.arrived(5);
    release();
    await taking;
    expect(it.offsets().sort((one = 0, other = 0) => one - other)).toEqual([10, 20, 30, 40, 50]);
  });

  it("uses a guess only for exactly the request it was made for, and drops the others", async () => {
    await using it = await setUp((_, url) =>
      url.searchParams.get("offset") === "15" ? reply(url) : { instead: "say nothing" },
    );
    it.source.askAhead(at(10), 0, 10, 1000, 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(15), 0)).ids).toEqual(["at15"]);
    expect(it.server.requests).toHaveLength(5);
    expect(it.offsets()).toContain(15);
  });

  it("frees the places of the guesses it drops", async () => {
    await using it = await setUp(
      (_, url) => (url.searchParams.get("offset") === "15" ? reply(url) : { instead: "say nothing" }),
      { client: { concurrency: 4 } },
    );
    it.source.askAhead(at(10), 0, 10, 1000, 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(15), 0)).ids).toEqual(["at15"]);
  });

  it("ends where guesses keep failing", async () => {
    await using it = await setUp(answer);
    let guessed = 0;
    for (let place = 0; place < 10; place++) {
      const before = it.server.requests.length;
      await it.source.take(at(place * 100), place);
      it.source.askAhead(at(place * 100 + 50), place + 1, 50, 1000, 1);
      const own = at(place * 100 + 70);
      await it.source.take(own, place);
      guessed = it.server.requests.length - before - 2;
    }
    expect(guessed).toBe(0);
    it.source.askAhead(at(10), 10, 10, 1000, 1);
    expect((await it.source.take(at(500), 10)).ids).toEqual(["at500"]);
    expect(it.offsets()).not.toContain(10);
  });

  it("does not ask ahead where pages are large", async () => {
    await using it = await setUp(answer);
    it.source.askAhead(at(10), 0, 10, 1000, 5 * 1024 * 1024);
    expect((await it.source.take(at(20), 0)).ids).toEqual(["at20"]);
    expect(it.offsets()).toEqual([20]);
  });

  it("keeps its guesses while the walk steps back", async () => {
    await using it = await setUp(answer);
    it.source.askAhead(at(20), 1, 10, 1000, 1);
    expect(it.source.pending).toBe(4);
    expect((await it.source.take(at(13), 1)).ids).toEqual(["at13"]);
    expect(it.source.pending).toBe(4);
    it.source.askAhead(at(30), 2, 10, 1000, 1);
    expect((await it.source.take(at(30), 2)).ids).toEqual(["at30"]);
    // What lies before the new start is dropped, what lies behind it is asked for once.
    expect(it.source.pending).toBe(3);
    await it.source.take(at(60), 5);
    expect(it.offsets().filter((offset) => offset === 60)).toHaveLength(1);
  });

  it("has one room for all lists, and gives back what it took", async () => {
    const room = createLookAheadRoom();
    const pageBytes = 1400 * 1024;
    await using one = await setUp(answer, { room });
    await using other = await setUp(answer, { room });
    one.source.askAhead(at(10), 1, 10, 1000, pageBytes);
    other.source.askAhead(at(10), 1, 10, 1000, pageBytes);
    expect([one.source.pending, other.source.pending]).toEqual([3, 0]);
    await one.source.take(at(10), 1);
    other.source.askAhead(at(10), 1, 10, 1000, pageBytes);
    expect(other.source.pending).toBe(1);
    one.source.close();
    other.source.askAhead(at(10), 1, 10, 1000, pageBytes);
    expect(other.source.pending).toBe(3);
  });

  it("lets a failure count only when its page is needed", async () => {
    await using it = await setUp((_, url) =>
      url.searchParams.get("offset") === "20" ? { status: 500 } : reply(url),
    );
    it.source.askAhead(at(10), 0, 10, 1000, 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(10), 0)).ids).toEqual(["at10"]);
    await expect(it.source.take(at(20), 1)).rejects.toBeInstanceOf(HttpStatusError);
    expect((await it.source.take(at(30), 2)).ids).toEqual(["at30"]);
  });

  it("leaves no request behind when it is closed", async () => {
    await using it = await setUp(
      (request, url) => (request.path.startsWith(LIST) ? { instead: "say nothing" } : reply(url)),
      { client: { concurrency: 4 } },
    );
    it.source.askAhead(at(10), 0, 10, 1000, 1);
    await it.server.arrived(4);
    it.source.close();
    // All four places are free again: a request that waits for one gets through.
    const other = await it.client.fetchJson("/api/v1/", { parse: (value) => value });
    expect(other.value).toMatchObject({ meta: { total_count: 1000 } });
  });
});

describe("a remembered page", () => {
  const url = new URL(requestText(at(0)), "http://scripted.invalid");
  const body = JSON.stringify(reply(url).body);
  const remembered = {
    request: requestText(at(0)),
    bodyHash: createHash("sha256").update(body).digest("hex"),
    meta: { limit: 10, offset: 0, next: null, totalCount: 1000, count: 1, showsOrder: false },
    ids: ["kept"],
  };
  const recall = (page: typeof remembered) => async (seq: number) => (seq === 0 ? page : null);

  it("that comes again is not parsed: its ids count and its records stay out", async () => {
    await using it = await setUp(answer, { remember: recall(remembered) });
    expect(await it.source.take(at(0), 0)).toMatchObject({
      ids: ["kept"],
      meta: remembered.meta,
      records: null,
      bytes: body.length,
    });
  });

  it("is found by its place in the walk also when it is asked for ahead", async () => {
    const second = { ...remembered, request: requestText(at(10)) };
    const bodyHash = createHash("sha256").update(body.replace("at0", "at10")).digest("hex");
    await using it = await setUp(answer, {
      remember: async (seq) => (seq === 1 ? { ...second, bodyHash } : null),
    });
    it.source.askAhead(at(0), 0, 10, 1000, 1);
    expect((await it.source.take(at(0), 0)).records).toHaveLength(1);
    expect(await it.source.take(at(10), 1)).toMatchObject({ ids: ["kept"], records: null });
  });

  it("that was asked for ahead under another place is asked for again, because it is remembered by its place", async () => {
    await using it = await setUp(answer, { remember: recall(remembered) });
    it.source.askAhead(at(0), 0, 10, 10, 1);
    expect(await it.source.take(at(0), 1)).toMatchObject({ ids: ["at0"], records: [{ id: "at0" }] });
    expect(it.offsets()).toEqual([0, 0]);
  });

  it.each([
    ["of another body", { ...remembered, bodyHash: "0".repeat(64) }],
    ["of another request", { ...remembered, request: requestText(at(0, 3)) }],
    ["without ids", { ...remembered, ids: [] }],
  ])("%s is read anew", async (_, page) => {
    await using it = await setUp(answer, { remember: recall(page) });
    expect(await it.source.take(at(0), 0)).toMatchObject({ ids: ["at0"], records: [{ id: "at0" }] });
  });

  it("that cannot be recalled fails the page that needs it", async () => {
    const failure = new Error("the database is away");
    await using it = await setUp(answer, { remember: () => Promise.reject(failure) });
    await expect(it.source.take(at(0), 0)).rejects.toThrow("the database is away");
  });
});
