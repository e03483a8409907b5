/**
 * The fault matrix: every fault that a service can show, and what a run makes of it. The lists are those of a small quiet world, 120 builds
 * on pages of ten; where a row names no other list, the fault is in the list of builds.
 */
import { gzipSync } from "node:zlib";
import { expect } from "vitest";
import type { SyncSettings } from "../../../src/mirror/lists/plan.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import type { WorldOptions } from "../../../src/simulate/settings.ts";
import type { Unfinished } from "../../../src/store/schema/runs.ts";
import {
  afterPages,
  bytes,
  deleteNewest,
  drip,
  first,
  foreignNumber,
  half,
  hangUp,
  holding,
  html,
  type IsMeant,
  json,
  keepBack,
  listed,
  listOf,
  meanwhile,
  meta,
  nextTo,
  type Play,
  page,
  pageAt,
  type Reply,
  record,
  shuffled,
  silence,
  status,
  type WirePage,
  type WireRecord,
  when,
} from "./fault-play.ts";

/** What the database holds when the run with the fault is over. */
export const LEFT = {
  all: "every record",
  stored: "every record; `extra` has what no column can hold",
  soFar: "what came before, and the other lists",
  lost: "what came before",
  none: "the other lists",
  nothing: "as before",
  holes: "all other records; the holes in `sync.quarantine`",
  aside: "all other records; this one in `sync.quarantine`",
  kept: "nothing deleted",
  deleted: "marked deleted; restored when they return",
  moved: "every record that existed all through the walk",
} as const;

export interface FaultCase {
  fault: string;
  play: Play;
  exit: 0 | 3 | 5 | 6;
  run: "succeeded" | "partial" | "failed";
  walk: "whole" | "not_whole" | "skipped" | "none";
  left: keyof typeof LEFT;
  list?: Resource;
  /** What the reason of the walk, or the error of the run, says. */
  says?: RegExp;
  warns?: RegExp;
  /** A wait that the run must have asked for, in milliseconds from and to. */
  waits?: [from: number, to: number];
  /** Whether the waits take time, and no request may be sent meanwhile. @default they take none */
  isHeld?: true;
  /** What the phases behind the walks left. @default nothing */
  unfinished?: Partial<Unfinished>;
  /** The offsets of the holes, or the places of the records put aside. */
  places?: number[];
  /** What is kept of a record that was put aside. @default a finished build */
  payload?: unknown;
  deleted?: number;
  /** What `extra` of the record at fault holds. */
  extra?: WireRecord;
  afterNight?: true;
  allowMassDelete?: true;
  world?: WorldOptions;
  settings?: Partial<SyncSettings>;
}

export interface FaultSection {
  title: string;
  cases: FaultCase[];
}

const succeeds = { exit: 0, run: "succeeded", walk: "whole" } as const;
const stored = { ...succeeds, left: "stored" } as const;
const movedOn = { ...succeeds, left: "moved" } as const;
const notWhole = { exit: 3, run: "partial", walk: "not_whole" } as const;
const quarantined = { exit: 3, run: "partial", walk: "whole", left: "aside" } as const;
const breaksOff = { ...notWhole, left: "soFar" } as const;
const isLost = { exit: 5, run: "partial", walk: "not_whole", left: "lost" } as const;

/** Without `left` every record is there. */
function on(
  fault: string,
  play: Play,
  ends: Pick<FaultCase, "exit" | "run" | "walk"> & Partial<FaultCase>,
  more: Partial<FaultCase> = {},
): FaultCase {
  return { fault, play, left: "all", ...ends, ...more };
}

/** A reason names the list, the request, what was expected and what came. */
const atPage = (text: string) => new RegExp(`^build list: .*offset=40.*${text}`);
const breaksAt = (text: string) => ({ ...breaksOff, says: atPage(text) });
const holesAt = (...places: number[]) => {
  const where = `at offset${places.length > 1 ? "s" : ""} ${places.join(", ")}`;
  const says = `^build list: /api\\S+: the service cannot render ${places.length} of its records, ${where}`;
  return { ...notWhole, left: "holes", places, says: new RegExp(says) } as const;
};

const withheld = { exit: 3, run: "partial", walk: "whole" } as const;
const keeps = { afterNight: true, left: "kept" } as const;
const EMPTY = json({ meta: { limit: 10, next: null, offset: 0, total_count: 0 }, objects: [] });
const ownReply: Reply = (next) => next();

const TEST_LIMIT_MS = 1000;
const inTime = { timeoutMs: TEST_LIMIT_MS };
const tight = { maxBodyBytes: 1024 * 1024 };
const page40 = pageAt(40);
/** `isMeant` is made anew for each test, since it may count. */
function answer(isMeant: () => IsMeant, reply: Reply): Play {
  return () => when(isMeant(), reply);
}
const at40 = (reply: Reply) => answer(() => page40, reply);
const once = (reply: Reply) => answer(() => first(1, page40), reply);
const always = (reply: Reply) => answer(() => listOf("build"), reply);
const root = (reply: Reply) =>
  answer(
    () =>
      ({ path }) =>
        path === "/api/v1/",
    reply,
  );
const unrendered = (reply: Reply, ...places: number[]) => answer(() => holding("build", ...places), reply);
const retryAfter =
  (value: string | ((now: Date) => string)): Play =>
  ({ world }) =>
    when(first(1, page40), (next, asked) => {
      const wait = typeof value === "string" ? value : value(world.now());
      return status(429, { "retry-after": wait })(next, asked);
    });
const dateIn = (ms: number) => (now: Date) => new Date(now.getTime() + ms).toUTCString();
const BOMB = bytes(() => gzipSync(Buffer.alloc(30_000_000)), { "content-encoding": "gzip" });
const BAD_GZIP = bytes((body) => gzipSync(body).subarray(0, 99), { "content-encoding": "gzip" });
const spoil = (body: Buffer) => body.fill(0xe9, body.indexOf('"type":"') + 8, body.indexOf('"type":"') + 9);
const cut = (body: Buffer) => half(body, (end) => end.close());
const lengthOf = (length: number) => ({ "content-length": String(length) });
const NAMES_PAGE = "name a page by limit and offset, but is '";
const set = (fields: WireRecord) => (record: WireRecord) => Object.assign(record, fields);
const empty = (record: WireRecord) => {
  for (const key of Object.keys(record)) if (key !== "id") record[key] = null;
};
const OF_A_USER = { resource_uri: "/api/v1/user/3/" };
const holdingProject = (fields: WireRecord) =>
  expect.objectContaining({ project: expect.objectContaining(fields) });
const leadOn = (body: WirePage, { offset }: { offset: number }) =>
  set({ next: `/api/v1/build/?limit=10&offset=${offset + 10}` })(body.meta);
const endAfter = (count: number) => (body: WirePage) => {
  body.objects.length = Math.min(count, body.objects.length);
  body.meta.next = null;
};
const asItIs = () => {};
const offset = (value: number) => (query: URLSearchParams) => query.set("offset", String(value));

export const FAULTS: readonly FaultSection[] = [
  {
    title: "The way from page to page",
    cases: [
      on(
        "`next` names: another host",
        ({ elsewhere }) => when(page40, nextTo(asItIs, `${elsewhere}api/v1/build/`)),
        succeeds,
      ),
      ...(
        [
          ["names: the page just read", nextTo(offset(40)), "lead on from offset 40, but leads to offset 40"],
          ["names: an earlier page", nextTo(offset(10)), "lead on from offset 40, but leads to offset 10"],
          ["names: another path", nextTo(asItIs, "/etc/passwd"), "stay on \\S+, but is '/etc/passwd"],
          ["names: another resource", nextTo(asItIs, "/api/v1/user/"), "stay on \\S+, but is '/api/v1/user/"],
          ["names: no limit", nextTo((query) => query.delete("limit")), `${NAMES_PAGE}/`],
          ["is: no link", meta("next", "http://["), `${NAMES_PAGE}http://\\['`],
        ] as const
      ).map(([what, reply, text]) => on(`\`next\` ${what}`, at40(reply), breaksAt(`next should ${text}`))),
      on("`next` leaves thirty records out", at40(nextTo(offset(80))), succeeds),
      on("`limit` changes on the way", at40(nextTo((query) => query.set("limit", "3"))), succeeds),
      on("`next` brings a filter with it", at40(nextTo((query) => query.set("state", "finished"))), succeeds),
      on(
        "four records a page, whatever is asked for",
        always(
          page((body, { offset }) => {
            const isCut = body.objects.length > 4;
            body.objects = body.objects.slice(0, 4);
            body.meta.limit = 4;
            if (isCut) body.meta.next = `/api/v1/build/?limit=4&offset=${offset + 4}`;
          }),
        ),
        succeeds,
      ),
      on("`total_count` is: too small", always(meta("total_count", 115)), succeeds),
      on(
        "`total_count` is: too small in a list whose order is only believed",
        () => when(listOf("version"), meta("total_count", 25)),
        succeeds,
        { list: "version" },
      ),
      on("`total_count` is: too large", always(meta("total_count", 125)), {
        ...succeeds,
        warns: /^the service counts 125 builds and shows \d+$/,
      }),
      on("`total_count` is: a number as text", always(meta("total_count", "120")), succeeds),
      on(
        "`total_count` is: on the first page alone",
        always(page((body, { offset }) => offset > 0 && Object.assign(body.meta, { total_count: null }))),
        succeeds,
      ),
      on("`total_count` is: huge", always(meta("total_count", 9e15)), {
        ...notWhole,
        says: /^build list: the service counts 9,000,000,000,000,000 builds and shows \d+:/,
      }),
      on(
        "`total_count` is: counted long ago, and `next` is computed from it",
        always(
          page((body, { offset }) => {
            body.meta.total_count = 112;
            if (offset + 10 >= 112) body.meta.next = null;
          }),
        ),
        succeeds,
      ),
      ...Object.entries({ negative: -120, "a word": "many", missing: undefined }).map(([what, value]) => {
        const says = `total_count should be a number, but is ${JSON.stringify(value) ?? "missing"}$`;
        const ends = { ...notWhole, says: new RegExp(`^build list: /api\\S+: ${says}`) };
        return on(`\`total_count\` is: ${what}`, always(meta("total_count", value)), ends);
      }),
      on("`next` past the end for ever, the pages: empty", always(page(leadOn)), {
        ...notWhole,
        says: /^build list: .*offset=\d+: the page holds no record, yet it has a next one/,
      }),
      on(
        "`next` past the end for ever, the pages: like the last one",
        () => {
          let last: WireRecord[] = [];
          const repeat = page((body, asked) => {
            if (body.objects.length > 0) last = body.objects;
            else body.objects = last;
            leadOn(body, asked);
          });
          return when(listOf("build"), repeat);
        },
        {
          ...notWhole,
          says: /^build list: .*offset=\d+: the list should have come to its end, but goes on after \d+ pages/,
        },
      ),
      on("`next` is null too early on one page", at40(meta("next", null)), succeeds),
      on("`next` is: null on every page", always(page(endAfter(10))), succeeds),
      on("an empty page in the middle", at40(page(endAfter(0))), succeeds),
      ...(
        [
          ["missing: `meta`", page((body) => Reflect.deleteProperty(body, "meta")), "meta"],
          ["missing: `objects`", page((body) => Reflect.deleteProperty(body, "objects")), "objects"],
          ["`objects` is no list", page((body) => Object.assign(body, { objects: {} })), "objects"],
          ["a record in the place of a list", json({ id: "7", state: "finished" }), "meta"],
          [
            "another list in its place",
            page(({ objects }) => objects.forEach(set(OF_A_USER))),
            "its records name",
          ],
        ] as const
      ).map(([what, reply, name]) =>
        on(what, at40(reply), breaksAt(`should answer with a page .*, but ${name}`)),
      ),
    ],
  },
  {
    title: "Lists that move, or have no order",
    cases: [
      on(
        "versions, users and files in a new order for each request",
        () => (_request, next) => next(),
        succeeds,
        { world: { ties: "shuffled" }, list: "version" },
      ),
      on("the whole list in a new order", shuffled("build"), succeeds),
      on(
        "deleted in front of every page: a row",
        meanwhile(20, (world) => deleteNewest(world, 1)),
        movedOn,
      ),
      on(
        "more rows deleted between two pages than the overlap",
        meanwhile(4, (world) => deleteNewest(world, 5)),
        movedOn,
      ),
      on(
        "deleted in front of every page: a version",
        ({ world }) => {
          const ids = listed(world, "version").map(({ id }) => String(id));
          return when(first(6, listOf("version")), (next) => {
            world.deleteRecord("version", ids.pop() ?? "");
            return next();
          });
        },
        succeeds,
        { list: "version", left: "moved" },
      ),
      on(
        "two rows inserted at the head before every page",
        meanwhile(12, (world) => void world.triggerBuilds(2)),
        movedOn,
      ),
    ],
  },
  {
    title: "Pages that cannot be rendered",
    cases: [
      ...[400, 500, 502, 504].map((code) =>
        on(`one page whose halves can be rendered: ${code}`, at40(status(code)), succeeds),
      ),
      ...[400, 500, 502, 504].map((code) =>
        on(`every page with a certain record: ${code}`, unrendered(status(code), 45), holesAt(45)),
      ),
      on("every page with a certain record: no answer", unrendered(silence, 45), holesAt(45), {
        settings: { ...inTime, retries: 1 },
      }),
      on("such records: three side by side", unrendered(status(500), 44, 45, 46), holesAt(44, 45, 46)),
      on("such records: the first and the last", unrendered(status(500), 0, 119), holesAt(0, 119)),
      on(
        "a record too large for `DOCMIRROR_MAX_BODY_MB`",
        record("build", 45, set({ output: "x".repeat(2 ** 20) })),
        holesAt(45),
        { settings: tight },
      ),
      on("every page with a certain record: a gzip bomb", unrendered(BOMB, 45), holesAt(45), {
        settings: tight,
      }),
      on("every page of the list answers 500", always(status(500)), notWhole, {
        left: "none",
        says: /GET .*\/api\/v1\/build\/.* answered 500/,
      }),
    ],
  },
  {
    title: "Records that are suddenly not in their list",
    cases: [
      ...[404, 410].map((code) =>
        on(`a user whose detail is: ${code}`, keepBack("user", 1, status(code)), succeeds, {
          list: "user",
          afterNight: true,
          left: "deleted",
          deleted: 1,
        }),
      ),
      on("a user whose detail shows it", keepBack("user", 1, ownReply), succeeds, { ...keeps, list: "user" }),
      ...(
        [
          ["500", status(500)],
          ["a list", json({ meta: { next: null, total_count: 0 }, objects: [] })],
          ["another record", json({ id: "4711", username: "eve" })],
        ] as const
      ).map(([what, detail]) =>
        on(`a user whose detail is: ${what}`, keepBack("user", 1, detail), withheld, {
          ...keeps,
          list: "user",
          unfinished: { deletions: 1 },
        }),
      ),
      on(
        "a build with 404, when the walk is not whole",
        (stage) => {
          const hide = keepBack("build", 1, status(404))(stage);
          // Of the night before the walk knows where pages began, so it asks for those behind the gap one earlier.
          const fail = when(holding("build", 45), json({}));
          return (request, next) => fail(request, async () => (await hide(request, next)) as Response);
        },
        notWhole,
        { ...keeps, says: /^build list: .*should answer with a page/ },
      ),
      on("21 of 30 versions with 404", keepBack("version", 21, status(404)), withheld, {
        ...keeps,
        list: "version",
        says: /^21 versions have been missing .* until a person decides;/,
      }),
      on("21 of 30 versions, with `--allow-mass-delete`", keepBack("version", 21, status(404)), succeeds, {
        list: "version",
        afterNight: true,
        allowMassDelete: true,
        left: "deleted",
        deleted: 21,
      }),
      on(
        "an empty list, `total_count` 0, all details 404",
        () =>
          when(
            ({ resource }) => resource === "build",
            (next, asked) =>
              (asked.id === undefined || asked.id === "schema" ? EMPTY : status(404))(next, asked),
          ),
        notWhole,
        {
          ...keeps,
          says: /^build list: it should hold the 120 records that are known, but came empty; nothing is deleted/,
        },
      ),
      on("an empty list, with `--allow-mass-delete`", always(EMPTY), notWhole, {
        ...keeps,
        allowMassDelete: true,
        says: /^build list: it should hold the 120 records that are known, but came empty/,
      }),
      on("half a list, `total_count` too, all other details 404", keepBack("build", 60, status(404)), {
        ...withheld,
        ...keeps,
        says: /^60 builds have been missing from the list since/,
      }),
    ],
  },
  {
    title: "Refusals",
    cases: [
      on("503 with `Retry-After`: 3, while other requests wait", once(status(503, { "retry-after": "3" })), {
        ...succeeds,
        waits: [3000, 3000],
        isHeld: true,
      }),
      ...(
        [
          ["3", "3", [3000, 3000]],
          ["a date in a minute", dateIn(60_000), [60_000, 60_000]],
          ["0", "0", [0, 0]],
          ["-5", "-5", [0, 0]],
          ["a word", "soon", [0, 500]],
        ] as [string, Parameters<typeof retryAfter>[0], [number, number]][]
      ).map(([what, value, waits]) =>
        on(`429 with \`Retry-After\`: ${what}`, retryAfter(value), succeeds, { waits }),
      ),
      on("403 with `Retry-After`: 3", once(status(403, { "retry-after": "3" })), {
        ...succeeds,
        waits: [3000, 3000],
        isHeld: true,
      }),
      on("429 without `Retry-After`", once(status(429)), succeeds, { waits: [0, 500] }),
      ...(
        [
          ["a year", String(365 * 86_400)],
          ["a date in a year", dateIn(365 * 86_400_000)],
        ] as const
      ).map(([what, value]) =>
        on(`429 with \`Retry-After\`: ${what}`, retryAfter(value), isLost, {
          says: /the service asks for a pause for .*: GET .*offset=40.* answered 429/,
        }),
      ),
      on("429 for ever, for one list", always(status(429)), isLost, {
        left: "none",
        says: /GET .*\/api\/v1\/build\/.* answered 429/,
      }),
      on("503 for a while", () => when(first(2, page40), status(503)), succeeds),
      on("HTML once with: 502", once(html(502)), succeeds),
      on("HTML once with: 504", once(html(504)), succeeds),
      on("502 for ever, for one page", at40(html(502)), succeeds),
      on("HTML once with: 200", once(html(200)), succeeds),
      on("200 with HTML for ever", at40(html(200)), breaksOff, {
        says: /GET .*\/api\/v1\/build\/.*offset=40.* answered with no JSON: <html>/,
      }),
      on("401", at40(status(401)), breaksOff, { says: /GET .*\/api\/v1\/build\/.*offset=40.* answered 401/ }),
      on("404 of a list that the root listing names", always(status(404)), notWhole, {
        left: "none",
        says: /GET .*\/api\/v1\/build\/.* answered 404/,
      }),
      on("302 to: the same page", once(moved("/api/v1/build/?limit=10&offset=40&x=1")), succeeds),
      on("302 to: another origin", ({ elsewhere }) => when(page40, moved(elsewhere)), breaksOff, {
        says: /GET .*offset=40.* answered 302 to 'http:.*', which is not followed/,
      }),
      on("302 in a circle", at40(moved("/api/v1/build/?limit=10&offset=40")), breaksOff, {
        says: /GET .*offset=40.* answered with more than 3 redirects, which is not followed/,
      }),
    ],
  },
  {
    title: "Broken replies and lost connections",
    cases: [
      on("once: JSON cut off in the middle", once(bytes((body) => body.subarray(0, 999))), succeeds),
      on("JSON cut off for ever", at40(bytes((body) => body.subarray(0, 999))), breaksOff, {
        says: /GET .*\/api\/v1\/build\/.*offset=40.* answered with no JSON/,
      }),
      on("once: gzip that cannot be unpacked", once(BAD_GZIP), succeeds),
      on(
        "an encoding that nobody asked for",
        at40(bytes((body) => gzipSync(body), { "content-encoding": "zstd" })),
        breaksOff,
        {
          says: /GET .*offset=40.* answered with an unusable body: its content encoding 'zstd' was not requested/,
        },
      ),
      on("once: the connection closed before the reply", once(hangUp), succeeds),
      ...(
        [
          ["the connection closed in the body", bytes(cut, { ...lengthOf(999_999), connection: "close" })],
          ["`Content-Length` too large", bytes(cut, lengthOf(999_999))],
          ["`Content-Length` too small", bytes(cut, lengthOf(99))],
          ["no reply", silence],
          ["a body that stops in the middle", bytes((body) => half(body))],
          ["a body byte by byte", bytes(drip)],
        ] as const
      ).map(([what, reply]) => on(`once: ${what}`, once(reply), succeeds, { settings: inTime })),
      on("no reply to one page for ever", at40(silence), succeeds, { settings: { ...inTime, retries: 1 } }),
      on(
        "the host is away for half a minute",
        ({ sleeps }) => {
          const isAway = afterPages(3);
          return when((asked) => isAway(asked) && !sleeps.includes(30_000), hangUp);
        },
        succeeds,
        { settings: { retries: 5 }, warns: /^paused all requests for 30 s after 6 failures in a row: GET/ },
      ),
      on("the host goes away for good", () => when(afterPages(3), hangUp), isLost, {
        settings: { retries: 5 },
        says: /GET .* got no answer/,
        warns: /^paused all requests for 60 s after 7 failures in a row: GET/,
      }),
      on(
        "the host is away from the start",
        () => when(() => true, hangUp),
        { exit: 5, run: "failed", walk: "none" },
        { left: "nothing", says: /GET .*\/api\/v1\/.* got no answer/ },
      ),
      on(
        "the root listing lacks a resource",
        root(page((body) => Reflect.deleteProperty(body, "build"))),
        { exit: 3, run: "partial", walk: "skipped" },
        { left: "none", says: /the root listing has no build/ },
      ),
      ...(
        [
          ["HTML", html(200)],
          ["404", status(404)],
          ["none of the resources", json({ error: "Sorry" })],
        ] as const
      ).map(([what, reply]) =>
        on(`the root listing: ${what}`, root(reply), {
          exit: 6,
          run: "failed",
          walk: "none",
          left: "nothing",
          says: /GET .*\/api\/v1\//,
        }),
      ),
    ],
  },
  {
    title: "Bad records",
    cases: [
      on(
        "no id",
        record("build", 45, (build) => Reflect.deleteProperty(build, "id")),
        {
          ...notWhole,
          left: "aside",
          places: [45],
          says: /^build list: \/api\S+: 119 distinct ids were seen where total_count says 120: 1 of its records have no id/,
        },
      ),
      on(
        "an id that is an object",
        record("build", 45, (build) => Object.assign(build, { id: { $oid: build.id } })),
        notWhole,
        { left: "aside", places: [45], says: /1 of its records have no id/ },
      ),
      on("a `resource_uri` of another resource", record("build", 45, set(OF_A_USER)), quarantined, {
        places: [45],
        payload: expect.objectContaining(OF_A_USER),
      }),
      on(
        "a `resource_uri` of another resource in the project that a file holds",
        record("file", 15, ({ project }) => set(OF_A_USER)(project as WireRecord)),
        quarantined,
        { list: "file", places: [15], payload: holdingProject(OF_A_USER) },
      ),
      on("a `resource_uri` that cannot be read", record("build", 45, set({ resource_uri: "here" })), stored),
      ...["NaN", "Infinity", "-Infinity"].map((token) =>
        on(`a number that JSON does not have: \`${token}\``, foreignNumber("build", 45, token), quarantined, {
          places: [45],
          payload: expect.stringContaining(`"type":${token},`),
        }),
      ),
      on("bytes that do not fit the charset", at40(bytes(spoil)), {
        ...stored,
        warns: /^bytes that do not fit the charset were replaced by U\+FFFD in build \d+;/,
      }),
      on(
        "all ids as integers",
        always(page(({ objects }) => objects.map((build) => Object.assign(build, { id: Number(build.id) })))),
        stored,
      ),
      ...(
        [
          ["a number for a text", "build", { type: 5 }],
          ["a text for an object", "version", { project: "my project" }],
          ["a date that is none", "build", { date: "yesterday" }],
          ["a boolean as a word", "build", { success: "yes" }],
          ["an unknown field", "build", { shoes: { size: 44 } }],
          [
            "keys named `__proto__` and `constructor`",
            "build",
            JSON.parse('{"__proto__": {"a": 1}, "constructor": 7}'),
          ],
        ] as [string, Resource, WireRecord][]
      ).map(([what, list, change]) =>
        on(
          what,
          record(list, 5, (record) => {
            for (const [key, value] of Object.entries(change))
              Object.defineProperty(record, key, { value, enumerable: true, configurable: true });
          }),
          succeeds,
          { list, left: "stored", extra: { values: change } },
        ),
      ),
      on("null everywhere", record("build", 45, empty), stored),
      ...Object.entries({
        "10 MB": "x".repeat(10_000_000),
        "U+0000": "a\u0000b",
        "a lone surrogate": "a\ud800b",
      }).map(([what, output]) => on(`a text with: ${what}`, record("build", 45, set({ output })), stored)),
      on(
        "the same id twice on a page",
        at40(page(({ objects }) => objects.splice(5, 0, { ...objects[4], state: "building" }))),
        stored,
      ),
    ],
  },
];

/**
 * Faults that are not of the service, or not of one run, and so are shown by tests of their own: by file and the test's name, or
 * that of its group, the fault and what comes of it.
 */
export const SHOWN_ELSEWHERE: Readonly<Record<string, Record<string, string>>> = {
  "test/mirror/run/crash.test.ts": {
    "a run that is killed ends, once it is let be, as if nothing had been":
      "SIGKILL at random moments → 137; `interrupted`; the next run resumes",
  },
  "test/cli/sync/sync-command.test.ts": {
    "by %s exits %s, and the next sync ends in the rows of an undisturbed one":
      "SIGINT or SIGTERM → 130, 143; `interrupted`; the next run resumes",
  },
  "test/cli/context/run-command.test.ts": {
    "the second ends a command that does not listen at once": "a second signal → 130, 143; ends at once",
    "a command that hangs is cut short 9 s after the first, and says so":
      "a stop that takes longer than 9 s → 143; cut short",
  },
  "test/mirror/run/interrupted-run.test.ts": {
    "is not gone on from when its checkpoint is older than six hours":
      "a checkpoint older than six hours → 0; the walk starts again",
    "and ends all sessions is waited out: the run ends like an undisturbed one":
      "Postgres: ends all sessions → 0; waited out",
    "and refuses connections for a while is waited out":
      "Postgres: refuses connections for a while → 0; waited out",
    "and stays away ends the run with exit code 4 and nothing half-written; the next one goes on":
      "Postgres stays away → 4; the next run resumes",
  },
  "test/mirror/run/killed-server.test.ts": {
    "of four syncs started at once one runs, and three exit 10 and say who runs":
      "four `sync` at once → 0, 10; one runs, three say who runs",
    "killed and started again costs the run nothing": "Postgres: killed and started again → 0; waited out",
    "killed for good ends the run with exit code 4, and the hint names its log":
      "Postgres killed for good → 4; the hint names the server's log",
    "a server out of connections in mid-run is waited for": "Postgres: out of connections → 0; waited out",
  },
  "test/mirror/run/all-or-nothing.test.ts": {
    "a batch that a full disk refuses to %s ends the run with exit code 4 at once, and nothing of it is left":
      "Postgres' disk is full → 4; at once; the next run resumes",
    "a run whose lease went to another run writes nothing more and ends with exit code 10":
      "the run's lease goes to another run → 10; nothing more is written",
  },
  "test/cli/worker/several-workers.test.ts": {
    "go on without a leader that was killed in the middle of a run":
      "the leader of three workers is killed in a run → 137; another worker leads, and resumes",
    "hand over at once when the leader is asked to stop":
      "the leader of three workers is asked to stop → 143; another worker leads, and resumes",
    "go on without a leader that was frozen in the middle of a run, and it stands by when it wakes":
      "the leader of three workers is frozen in a run, and wakes → goes on; another worker leads, and resumes; the frozen one writes nothing more and stands by",
    "go on without a leader whose network fell silent in the middle of a run":
      "the network of the leader of three workers falls silent → goes on; another worker leads, and resumes; the silent one writes nothing more and stands by",
  },
  "test/mirror/api/tls.test.ts": {
    "whose certificate %s is refused after one try, with the cause as its hint":
      "an untrusted certificate → 5; refused before anything is sent",
    "%s runs into the time-out": "a service that accepts and says nothing → 5; the time-out",
  },
  "test/mirror/api/host-gate.test.ts": {
    "hold all requests back: %i with Retry-After as long as it says":
      "429 and 503 while other requests wait → all are held back",
    "slow the pace once a round; every answer eases it": "429 while the pace is fast → the pace slows",
  },
  "test/mirror/run/service-in-trouble.test.ts": {
    "a run with the pace of an earlier one asks nothing while the service wants to be left alone":
      "a later run while `Retry-After` lasts → 5; no request; the error says until when",
  },
  "test/mirror/run/confirm-deletions.test.ts": {
    "are asked for by turns of their lists up to the bound, the others in the next run":
      "more missing records than one run may ask for → 3; the next run does the rest",
  },
  "test/mirror/run/deletions.test.ts": {
    "is deleted by the next run when this one dies before it asked":
      "a run that dies before it asked for missing records → 143; the next run does the rest",
    "whose id leads out of the API: no verdict, but status lists it":
      "a record leaves its list, and its id leads out of the API → 3, 0; kept, and listed in `docmirror status`; after three runs it costs no verdict",
  },
  "test/mirror/load/hostile-records.test.ts": {
    "stores every record with an id and puts the rest aside, at random":
      "any record, at random → stored when it has an id, else in `sync.quarantine`",
  },
  "test/cli/quarantine-command.test.ts": {
    "--retry stores what it can and exits 3, or 0 when nothing stays":
      "the quarantine is tried again → 0, 3; stored where that is possible now",
  },
  "test/mirror/walk/schedules.test.ts": {
    "loses no record that was there all through a whole walk, whatever comes and goes meanwhile":
      "any change of a list between two pages, at random → no record is missed",
  },
  "test/mirror/run/head-deficit.test.ts": {
    "is found by the next %s: %i and %i":
      "builds appear far below the head of the list → 0; a search finds them in the same run, and the round",
    "costs a round less than ten requests where it is one deletion":
      "builds go, far below the head of the list → 0; a search finds them in the same run, and the round",
    "makes an incremental run that searched partial, and the next full":
      "the count of the builds is too high, for good → 3, 0; the run says so after its search; the next one is full and explains it",
    "after a run whose clock stood ten years ahead the next one is full":
      "our clock ten years ahead → 0; the next run is full and repairs it",
  },
  "test/mirror/run/replicas.test.ts": {
    "loses nothing in rounds and syncs; what is gone is marked later":
      "some replies, or all, come from a replica that is eight minutes behind → 0; nothing wrongly deleted; what is gone is marked after the lag",
  },
  "test/mirror/run/rounds.test.ts": {
    "show an edit, and a deletion that a build with an old date hides":
      "builds appear where as many others go → 0; the round finds both",
  },
  "test/mirror/run/unfinished-phases.test.ts": {
    "makes the run partial, with how many references nobody asked for, and the next run asks":
      "the service is lost after the walks → 5; the next run does the rest",
    "for ever by %s keeps no other list from deletions and references":
      "one list fails for ever → 5; the other lists are complete",
  },
  "test/store/ledger/mirrored-service.test.ts": {
    "and refuses another one before anything is asked or written":
      "another service than that of the mirror → 2; refused at once",
  },
  "test/mirror/run/hostile-replies.test.ts": {
    "is no bug of ours, and costs no other list anything, wherever it stands":
      "any JSON at any place of any reply, at random → no other list is touched; the next run repairs it",
  },
};

function moved(location: string): Reply {
  return () => new Response(null, { status: 302, headers: { location } });
}
