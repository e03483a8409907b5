import { createHash } from "node:crypto";
import { EventEmitter, once } from "node:events";
import { describe, expect, it } from "vitest";
import { HttpStatusError } from "../../../src/base/errors.ts";
import type { ClientOptions } from "../../../src/mirror/api/client.ts";
import type { RememberedPage } from "../../../src/mirror/walk/page.ts";
import {
  createLookAheadRoom,
  createPageSource,
  type PageSourceOptions,
} from "../../../src/mirror/walk/page-source.ts";
import { type PageRequest, parsePageRequest, requestText } from "../../../src/resources/page-request.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";

const LIST = "/api/v1/user/";
const at = (offset: number): PageRequest => ({ path: LIST, others: "format=json", limit: 10, offset });
/** So many as are ever asked for ahead here. */
const offsetsFrom = (from: number, step = 10, end = 1000) =>
  [0, 1, 2, 3].map((place) => from + place * step).filter((offset) => offset < end);

function reply({ searchParams }: URL): ScriptedReply {
  const meta = { limit: 10, next: null, total_count: 1000 };
  return { body: { meta, objects: [{ id: `at${searchParams.get("offset") ?? 0}` }] } };
}
const answer: Script = (_, url) => reply(url);
const onlyAt15: Script = (_, url) =>
  url.searchParams.get("offset") === "15" ? reply(url) : { instead: "say nothing" };

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
    offsets: () =>
      server.requests
        .map(({ path }) => parsePageRequest(path)?.offset ?? 0)
        .sort((one, other) => one - other),
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
    expect(await it.source.take(at(20))).toMatchObject({
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
    it.source.askAhead(offsetsFrom(10, 10, 20), at(0), 1);
    await it.server.arrived(1);
    await clock.sleep(1000);
    expect(await it.source.take(at(10))).toMatchObject({ askedAt: new Date("2024-05-15T12:00:00Z") });
  });

  it("tries a page as often as the client does, or as often as it is told", async () => {
    await using it = await setUp([{ status: 500 }], { client: { retries: 2 } });
    await expect(it.source.take(at(0))).rejects.toBeInstanceOf(HttpStatusError);
    expect(it.server.requests).toHaveLength(3);
    await expect(it.source.take(at(0), 1)).rejects.toBeInstanceOf(HttpStatusError);
    expect(it.server.requests).toHaveLength(5);
  });
});

describe("a page that was just fetched", () => {
  it("is asked for only when it is wanted again", async () => {
    await using one = await setUp(answer);
    const recent = await one.source.take(at(0));
    await using it = await setUp(answer, { recent });
    expect(await it.source.take(at(0))).toBe(recent);
    expect(it.offsets()).toEqual([]);
    expect(await it.source.take(at(0))).not.toBe(recent);
    expect(it.offsets()).toEqual([0]);
  });
});

describe("asking ahead", () => {
  it("asks for each page once, a step apart, and never beyond the end", async () => {
    await using it = await setUp(answer);
    await it.source.take(at(0));
    it.source.askAhead(offsetsFrom(8, 8, 30), at(0), 1);
    await it.server.arrived(4);
    for (const offset of [8, 16, 24]) {
      expect((await it.source.take(at(offset))).ids).toEqual([`at${offset}`]);
      it.source.askAhead(offsetsFrom(offset + 8, 8, 30), at(0), 1);
    }
    expect(it.offsets()).toEqual([0, 8, 16, 24]);
  });

  it("keeps so many requests under way", async () => {
    const released = new EventEmitter();
    const release = once(released, "now");
    await using it = await setUp((_, url) => release.then(() => reply(url)));
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    await it.server.arrived(4);
    const taking = it.source.take(at(10));
    it.source.askAhead(offsetsFrom(20), at(0), 1);
    await it.server.arrived(5);
    released.emit("now");
    await taking;
    expect(it.offsets()).toEqual([10, 20, 30, 40, 50]);
  });

  it("uses a guess only for exactly the request it was made for, and drops the others", async () => {
    await using it = await setUp(onlyAt15);
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(15))).ids).toEqual(["at15"]);
    expect(it.server.requests).toHaveLength(5);
    expect(it.offsets()).toContain(15);
  });

  it("frees the places of the guesses it drops", async () => {
    await using it = await setUp(onlyAt15, { client: { concurrency: 4 } });
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(15))).ids).toEqual(["at15"]);
  });

  it("ends where guesses keep failing", async () => {
    await using it = await setUp(answer);
    let guessed = 0;
    for (let start = 0; start < 1000; start += 100) {
      const before = it.server.requests.length;
      await it.source.take(at(start));
      it.source.askAhead(offsetsFrom(start + 50, 50), at(0), 1);
      await it.source.take(at(start + 70));
      guessed = it.server.requests.length - before - 2;
    }
    expect(guessed).toBe(0);
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    expect((await it.source.take(at(500))).ids).toEqual(["at500"]);
    expect(it.offsets()).not.toContain(10);
  });

  it("does not ask ahead where pages are large", async () => {
    await using it = await setUp(answer);
    it.source.askAhead(offsetsFrom(10), at(0), 5 * 1024 * 1024);
    expect((await it.source.take(at(20))).ids).toEqual(["at20"]);
    expect(it.offsets()).toEqual([20]);
  });

  it("keeps its guesses while the walk steps back", async () => {
    await using it = await setUp(answer);
    it.source.askAhead(offsetsFrom(20), at(0), 1);
    expect(it.source.pending).toHaveLength(4);
    expect((await it.source.take(at(13))).ids).toEqual(["at13"]);
    expect(it.source.pending).toHaveLength(4);
    it.source.askAhead(offsetsFrom(30), at(0), 1);
    expect((await it.source.take(at(30))).ids).toEqual(["at30"]);
    // What lies before the new start is dropped, what lies behind it is asked for once.
    expect(it.source.pending).toHaveLength(3);
    await it.source.take(at(60));
    expect(it.offsets().filter((offset) => offset === 60)).toHaveLength(1);
  });

  it("has one room for all lists, and gives back what it took", async () => {
    const room = createLookAheadRoom();
    const pageBytes = 1400 * 1024;
    await using one = await setUp(answer, { room });
    await using other = await setUp(answer, { room });
    one.source.askAhead(offsetsFrom(10), at(0), pageBytes);
    other.source.askAhead(offsetsFrom(10), at(0), pageBytes);
    expect([one.source.pending.length, other.source.pending.length]).toEqual([3, 0]);
    await one.source.take(at(10));
    other.source.askAhead(offsetsFrom(10), at(0), pageBytes);
    expect(other.source.pending).toHaveLength(1);
    one.source.close();
    other.source.askAhead(offsetsFrom(10), at(0), pageBytes);
    expect(other.source.pending).toHaveLength(3);
  });

  it("lets a failure count only when its page is needed", async () => {
    await using it = await setUp((_, url) =>
      url.searchParams.get("offset") === "20" ? { status: 500 } : reply(url),
    );
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    await it.server.arrived(4);
    expect((await it.source.take(at(10))).ids).toEqual(["at10"]);
    await expect(it.source.take(at(20))).rejects.toBeInstanceOf(HttpStatusError);
    expect((await it.source.take(at(30))).ids).toEqual(["at30"]);
  });

  it("leaves no request behind when it is closed", async () => {
    await using it = await setUp(
      (request, url) => (request.path.startsWith(LIST) ? { instead: "say nothing" } : reply(url)),
      { client: { concurrency: 4 } },
    );
    it.source.askAhead(offsetsFrom(10), at(0), 1);
    await it.server.arrived(4);
    it.source.close();
    // All four places are free again: a request that waits for one gets through.
    const other = await it.client.fetchJson("/api/v1/", { parse: (value) => value });
    expect(other.value).toMatchObject({ meta: { total_count: 1000 } });
  });
});

describe("a page with the records of an earlier one", () => {
  const url = new URL(requestText(at(0)), "http://scripted.invalid");
  const { body } = reply(url) as { body: { objects: object[] } };
  const objects = JSON.stringify(body.objects);
  const remembered: RememberedPage = {
    seq: 7,
    request: requestText(at(30)),
    bodyHash: createHash("sha256").update(`objects:${objects}`).digest("hex"),
    meta: {
      limit: 10,
      offset: 30,
      next: "/api/v1/user/?limit=10&offset=40",
      totalCount: 40,
      count: 1,
      showsOrder: false,
    },
    ids: ["kept"],
    loadedAt: "2024-05-15 12:00:00+00",
    runId: 3,
  };
  const recallOf = (page: RememberedPage) => async (hash: string) => (hash === page.bodyHash ? page : null);

  it("is not parsed: its ids count, its records stay out, and its meta is that of the reply", async () => {
    await using it = await setUp(answer, { recall: recallOf(remembered) });
    expect(await it.source.take(at(0))).toMatchObject({
      ids: ["kept"],
      meta: { limit: 10, offset: null, next: null, totalCount: 1000, count: 1, showsOrder: false },
      records: null,
      known: remembered,
      bodyHash: remembered.bodyHash,
    });
  });

  it("is known at any place, also when it was asked for ahead", async () => {
    await using it = await setUp(() => ({ body }), { recall: recallOf(remembered) });
    it.source.askAhead(offsetsFrom(0), at(0), 1);
    for (const offset of [0, 10, 20]) expect((await it.source.take(at(offset))).records).toBeNull();
  });

  it("is read when one byte of its records differs", async () => {
    await using it = await setUp(answer, { recall: recallOf(remembered) });
    expect(await it.source.take(at(10))).toMatchObject({ ids: ["at10"], records: [{ id: "at10" }] });
  });

  it("is none when a whole reply has the bytes of its records", async () => {
    await using it = await setUp([{ body: objects }], { recall: recallOf(remembered) });
    await expect(it.source.take(at(0))).rejects.toThrow("should answer with a page");
  });

  it("must have a next that is a link or null, as every page", async () => {
    await using it = await setUp([{ body: { meta: { next: 5 }, objects: body.objects } }], {
      recall: recallOf(remembered),
    });
    await expect(it.source.take(at(0))).rejects.toThrow("meta.next");
  });

  it("has the meta of the earlier one where the whole reply is the same, in a form that cannot be split", async () => {
    const odd = JSON.stringify({ objects: body.objects, meta: { next: null } });
    const page = { ...remembered, bodyHash: createHash("sha256").update(`utf-8:${odd}`).digest("hex") };
    await using it = await setUp([{ body: odd }], { recall: recallOf(page) });
    expect(await it.source.take(at(0))).toMatchObject({ meta: page.meta, records: null });
  });

  it("is at no place that is a guess because the earlier one was", async () => {
    const odd = JSON.stringify({ objects: body.objects, meta: { next: null } });
    const bodyHash = createHash("sha256").update(`utf-8:${odd}`).digest("hex");
    const page = { ...remembered, bodyHash, meta: { ...remembered.meta, shift: 4 } };
    await using it = await setUp([{ body: odd }], { recall: recallOf(page) });
    expect((await it.source.take(at(0))).meta).toEqual(remembered.meta);
  });

  it("that cannot be recalled fails the page that needs it", async () => {
    await using it = await setUp(answer, { recall: () => Promise.reject(new Error("the database is away")) });
    await expect(it.source.take(at(0))).rejects.toThrow("the database is away");
  });
});
