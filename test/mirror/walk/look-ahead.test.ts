/** How long a walk takes where latency rules, in virtual time: nothing here waits, so the figures are the same on every machine. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Client, FetchOptions, JsonReply } from "../../../src/mirror/api/client.ts";
import { createCourse } from "../../../src/mirror/walk/course.ts";
import { createLookAheadRoom, createPageSource, lookAheadOf } from "../../../src/mirror/walk/page-source.ts";
import { createWalk } from "../../../src/mirror/walk/walk.ts";
import { parsePageRequest } from "../../../src/resources/page-request.ts";

const CONCURRENCY = 8;
const LATENCY_MS = 100;
const PAGE_SIZE = 100;
const RECORDS = 49_002;

interface Weather {
  records?: number;
  recordBytes?: number;
  /** How often every list changes, in virtual milliseconds. @default never */
  everyMs?: number;
  change?(list: number[]): void;
  /** @default every reply takes equally long */
  jitterMs?: number;
}

/** A service that answers each request after its latency, and a client that has so many in flight. */
function createService({ records = RECORDS, recordBytes = 200, ...weather }: Weather) {
  const lists = new Map<string, number[]>();
  const waiting: { priority: number; send(): void }[] = [];
  const inFlight: { at: number; arrive(): void }[] = [];
  let nowMs = 0;
  let changedMs = 0;
  let requests = 0;

  function listAt(path: string): number[] {
    const list = lists.get(path) ?? Array.from({ length: records }, (_, at) => 10_000_000 - at);
    lists.set(path, list);
    return list;
  }

  function answer(path: string): { body: object; bytes: number } {
    const asked = parsePageRequest(path);
    if (!asked) throw new Error(`no page: ${path}`);
    const list = listAt(asked.path);
    const ids = list.slice(asked.offset, asked.offset + asked.limit);
    const end = asked.offset + asked.limit;
    const next = end < list.length ? `${asked.path}?format=json&limit=${asked.limit}&offset=${end}` : null;
    const objects = ids.map((id) => ({ id, date: new Date(id * 1000).toISOString().slice(0, 19) }));
    const meta = { limit: asked.limit, offset: asked.offset, next, total_count: list.length };
    return { body: { meta, objects }, bytes: ids.length * recordBytes };
  }

  function fill(): void {
    waiting.sort((one, other) => other.priority - one.priority);
    while (inFlight.length < CONCURRENCY) {
      const next = waiting.shift();
      if (!next) return;
      next.send();
    }
  }

  const client = {
    baseUrl: new URL("http://there.invalid"),
    fetchJson: <T>(path: string, { parse, signal, priority = 0 }: FetchOptions<T>) =>
      new Promise<JsonReply<T>>((resolve, reject) => {
        const entry = { priority, send };
        signal?.addEventListener("abort", () => {
          const at = waiting.indexOf(entry);
          if (at >= 0) waiting.splice(at, 1);
          reject(signal.reason);
        });
        function send(): void {
          requests += 1;
          const sentAt = new Date(nowMs);
          const jitter = ((requests * 7919) % 100) / 100 - 0.5;
          inFlight.push({
            at: nowMs + LATENCY_MS + jitter * (weather.jitterMs ?? 0),
            arrive() {
              const { body, bytes } = answer(path);
              const receivedAt = new Date(nowMs);
              const value = parse(body, path);
              const facts = { url: "", status: 200, headers: {}, requestId: null };
              const tookMs = receivedAt.getTime() - sentAt.getTime();
              const times = { sentAt, receivedAt, tookMs, serverDate: null };
              resolve({ url: path, value, hash: path, bytes, ...times, reply: facts });
            },
          });
        }
        waiting.push(entry);
      }),
    isUp: async () => true,
  } as unknown as Client;

  return {
    client,
    requests: () => requests,
    async run(work: Promise<unknown>): Promise<number> {
      let isDone = false;
      const done = work.finally(() => {
        isDone = true;
      });
      done.catch(() => {});
      while (!isDone) {
        // The walk takes several turns to ask for what it wants next.
        for (let turn = 0; turn < 3; turn++) await nextTurn();
        fill();
        inFlight.sort((one, other) => one.at - other.at);
        const first = inFlight.shift();
        if (!first) continue;
        nowMs = first.at;
        for (; weather.everyMs && nowMs - changedMs >= weather.everyMs; changedMs += weather.everyMs)
          for (const list of lists.values()) weather.change?.(list);
        first.arrive();
        for (const same of inFlight.splice(0, inFlight.findLastIndex(({ at }) => at <= nowMs) + 1))
          same.arrive();
      }
      await done;
      return nowMs / 1000;
    },
  };
}

async function walkLists(weather: Weather, lists = 1) {
  const service = createService(weather);
  const room = createLookAheadRoom();
  const walkOne = async (listPath: string) => {
    const course = createCourse({ resource: "build", listPath, pageSize: PAGE_SIZE, isListPath: () => true });
    const lookAhead = lookAheadOf(CONCURRENCY);
    const source = createPageSource({ client: service.client, resource: "build", lookAhead, room });
    const steps = createWalk({ resource: "build", course, source }).pages();
    for (let pages = 0; ; pages++) {
      const step = await steps.next();
      if (step.done) return { pages, walk: step.value.walk };
    }
  };
  const walks = Promise.all(Array.from({ length: lists }, (_, at) => walkOne(`/api/v1/build${at}/`)));
  const seconds = await service.run(walks);
  return { seconds, walks: await walks, requests: service.requests() };
}

const ids = { next: 20_000_000 };
const insert = (records: number) => (list: number[]) => {
  for (let count = 0; count < records; count++) list.unshift(ids.next++);
};
const remove = (records: number) => (list: number[]) => void list.splice(0, records);
const replace = (list: number[]) => {
  remove(20)(list);
  insert(20)(list);
};

describe("a list of 500 pages at 100 ms", () => {
  const best = ((500 / CONCURRENCY) * LATENCY_MS) / 1000;

  const isQuick = async ([, weather]: readonly [string, Weather]) => {
    const { seconds, walks, requests } = await walkLists(weather);
    expect(walks).toMatchObject([{ walk: "whole" }]);
    expect(seconds / best).toBeLessThanOrEqual(1.25);
    expect(requests).toBeLessThanOrEqual(1.25 * 500);
  };
  const NAME = "%s takes at most 1.25 times pages / concurrency × latency";
  it.for<[string, Weather]>([
    ["with two new records at its head every 100 ms", { everyMs: 100, change: insert(2) }],
  ])(NAME, isQuick);
  it.for<[string, Weather]>([
    ["that is still", {}],
    ["of a service whose latency varies", { jitterMs: 100 }],
    ["with fifty new records at its head every half second", { everyMs: 500, change: insert(50) }],
    ["from whose head a record goes every 100 ms", { everyMs: 100, change: remove(1) }],
    ["from whose head fifty records go every half second", { everyMs: 500, change: remove(50) }],
    ["from whose head ten records go every half second", { everyMs: 500, change: remove(10) }],
    ["where twenty go and twenty come every 300 ms", { everyMs: 300, change: replace }],
  ])(NAME, { tags: ["long"] }, isQuick);

  it("takes no longer as five lists of a hundred pages each", { tags: ["long"] }, async () => {
    const { seconds, walks } = await walkLists({ records: RECORDS / 5 }, 5);
    expect(walks.map(({ walk }) => walk)).toEqual(Array(5).fill("whole"));
    expect(seconds / best).toBeLessThanOrEqual(1.25);
  });

  it("takes longer where its pages are large, because only so many are in memory", async () => {
    const { seconds } = await walkLists({ records: 9802, recordBytes: 10_000 });
    // Three megabytes are three of these pages, and the one that is read.
    expect(seconds).toBeGreaterThan((100 / 4) * (LATENCY_MS / 1000));
  });
});

it("a list of two pages is read one page after the other", async () => {
  const { seconds, requests } = await walkLists({ records: 150 });
  expect([seconds, requests]).toEqual([0.2, 2]);
});
