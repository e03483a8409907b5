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
  record,
  shuffled,
  silence,
  status,
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
  /** The list that has the fault. @default build */
  list?: Resource;
  /** What the reason of the walk, or the error of the run, says. */
  says?: RegExp;
  /** What one of the run's warnings says. */
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
  /** How many records are deleted. */
  deleted?: number;
  /** What `extra` of the record at fault holds. */
  extra?: WireRecord;
  /** Whether an undisturbed night went before. */
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

const TEST_LIMIT_MS = 1000;
const inTime = { timeoutMs: TEST_LIMIT_MS };
const tight = { maxBodyBytes: 1024 * 1024 };
const page40 = pageAt(40);
const at40 =
  (reply: Parameters<typeof when>[1]): Play =>
  () =>
    when(page40, reply);
const once =
  (reply: Parameters<typeof when>[1]): Play =>
  () =>
    when(first(1, page40), reply);
const always =
  (reply: Parameters<typeof when>[1]): Play =>
  () =>
    when(listOf("build"), reply);
const unrendered =
  (code: number, ...places: number[]): Play =>
  () =>
    when(holding("build", ...places), status(code));
const retryAfter =
  (value: (now: Date) => string): Play =>
  ({ world }) =>
    when(first(1, page40), (next, asked) => status(429, { "retry-after": value(world.now()) })(next, asked));
const dateIn = (ms: number) => (now: Date) => new Date(now.getTime() + ms).toUTCString();
const gzip = { "content-encoding": "gzip" };

export const FAULTS: readonly FaultSection[] = [
  {
    title: "The way from page to page",
    cases: [
      on(
        "`next` names: the page just read",
        at40(nextTo((query) => query.set("offset", "40"))),
        breaksAt("next should lead on from offset 40, but leads to offset 40"),
      ),
      on(
        "`next` names: an earlier page",
        at40(nextTo((query) => query.set("offset", "10"))),
        breaksAt("next should lead on from offset 40, but leads to offset 10"),
      ),
      on(
        "`next` names: another host",
        (stage) =>
          when(
            page40,
            nextTo(() => {}, `${stage.elsewhere}api/v1/build/`),
          ),
        breaksAt("next should stay on /api/v1/build/, but is 'http:"),
      ),
      on(
        "`next` names: another path",
        at40(nextTo(() => {}, "/etc/passwd")),
        breaksAt("next should stay on /api/v1/build/, but is '/etc/passwd"),
      ),
      on(
        "`next` names: another resource",
        at40(nextTo(() => {}, "/api/v1/user/")),
        breaksAt("next should stay on /api/v1/build/, but is '/api/v1/user/"),
      ),
      on(
        "`next` names: no limit",
        at40(nextTo((query) => query.delete("limit"))),
        breaksAt("next should name a page by limit and offset, but is '/api/v1/build/"),
      ),
      on(
        "`next` is: no link",
        at40(meta("next", "http://[")),
        breaksAt("next should name a page by limit and offset, but is 'http://\\['"),
      ),
      on("`next` leaves thirty records out", at40(nextTo((query) => query.set("offset", "80"))), succeeds),
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
      on("`total_count` is: too large", always(meta("total_count", 125)), succeeds),
      on("`total_count` is: huge", always(meta("total_count", 9e15)), succeeds),
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
      ...(
        [
          ["negative", -120],
          ["a word", "many"],
          ["missing", undefined],
        ] as const
      ).map(([what, value]) =>
        on(`\`total_count\` is: ${what}`, always(meta("total_count", value)), notWhole, {
          left: "all",
          says: new RegExp(
            `^build list: /api\\S+: total_count should be a number, but is ${JSON.stringify(value) ?? "missing"}$`,
          ),
        }),
      ),
      on(
        "`next` past the end for ever, the pages: empty",
        always(
          page((body, { offset }) => {
            body.meta.next = `/api/v1/build/?limit=10&offset=${offset + 10}`;
          }),
        ),
        notWhole,
        { left: "all", says: /^build list: .*offset=\d+: the page holds no record, yet it has a next one/ },
      ),
      on(
        "`next` past the end for ever, the pages: like the last one",
        () => {
          let last: WireRecord[] = [];
          return when(
            listOf("build"),
            page((body, { offset }) => {
              if (body.objects.length > 0) last = body.objects;
              else body.objects = last;
              body.meta.next = `/api/v1/build/?limit=10&offset=${offset + 10}`;
            }),
          );
        },
        notWhole,
        {
          left: "all",
          says: /^build list: .*offset=\d+: the list should have come to its end, but goes on after \d+ pages/,
        },
      ),
      on("`next` is null too early on one page", at40(meta("next", null)), succeeds),
      on(
        "`next` is: null on every page",
        always(
          page((body) => {
            body.objects = body.objects.slice(0, 10);
            body.meta.next = null;
          }),
        ),
        succeeds,
      ),
      on(
        "an empty page in the middle",
        at40(
          page((body) => {
            body.objects = [];
            body.meta.next = null;
          }),
        ),
        succeeds,
      ),
      on(
        "missing: `meta`",
        at40(page((body) => Reflect.deleteProperty(body, "meta"))),
        breaksAt("should answer with a page .*, but meta:"),
      ),
      on(
        "missing: `objects`",
        at40(page((body) => Reflect.deleteProperty(body, "objects"))),
        breaksAt("should answer with a page .*, but objects:"),
      ),
      on(
        "`objects` is no list",
        at40(page((body) => Object.assign(body, { objects: { ...body.objects } }))),
        breaksAt("should answer with a page .*, but objects:"),
      ),
      on(
        "a record in the place of a list",
        at40(json({ id: "7", state: "finished" })),
        breaksAt("should answer with a page .*, but meta:"),
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
        succeeds,
        { left: "moved" },
      ),
      on(
        "more rows deleted between two pages than the overlap",
        meanwhile(4, (world) => deleteNewest(world, 5)),
        succeeds,
        { left: "moved" },
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
        succeeds,
        { left: "moved" },
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
        on(`every page with a certain record: ${code}`, unrendered(code, 45), holesAt(45)),
      ),
      on(
        "every page with a certain record: no answer",
        () => when(holding("build", 45), silence),
        holesAt(45),
        { settings: { ...inTime, retries: 1 } },
      ),
      on("such records: three side by side", unrendered(500, 44, 45, 46), holesAt(44, 45, 46)),
      on("such records: the first and the last", unrendered(500, 0, 119), holesAt(0, 119)),
      on(
        "a record too large for `DOCMIRROR_MAX_BODY_MB`",
        record("build", 45, (build) => Object.assign(build, { output: "x".repeat(2 ** 20) })),
        holesAt(45),
        { settings: tight },
      ),
      on(
        "every page with a certain record: a gzip bomb",
        () =>
          when(
            holding("build", 45),
            bytes(() => gzipSync(Buffer.alloc(30_000_000)), gzip),
          ),
        holesAt(45),
        { settings: tight },
      ),
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
      on(
        "a user whose detail shows it",
        keepBack("user", 1, (next) => next()),
        succeeds,
        { list: "user", afterNight: true, left: "kept" },
      ),
      ...(
        [
          ["500", status(500)],
          ["a list", json({ meta: { next: null, total_count: 0 }, objects: [] })],
          ["another record", json({ id: "4711", username: "eve" })],
        ] as const
      ).map(([what, detail]) =>
        on(
          `a user whose detail is: ${what}`,
          keepBack("user", 1, detail),
          { exit: 3, run: "partial", walk: "whole" },
          { list: "user", afterNight: true, left: "kept", unfinished: { deletions: 1 } },
        ),
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
        { afterNight: true, left: "kept", says: /^build list: .*should answer with a page/ },
      ),
      on(
        "21 of 30 versions with 404",
        keepBack("version", 21, status(404)),
        { exit: 3, run: "partial", walk: "whole" },
        {
          list: "version",
          afterNight: true,
          left: "kept",
          says: /^21 of 30 known versions were not in the walk, more than DOCMIRROR_MAX_DELETE_RATIO 0.05 allows/,
        },
      ),
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
              asked.id === undefined || asked.id === "schema"
                ? json({ meta: { limit: 10, next: null, offset: 0, total_count: 0 }, objects: [] })(
                    next,
                    asked,
                  )
                : status(404)(next, asked),
          ),
        notWhole,
        {
          afterNight: true,
          left: "kept",
          says: /^build list: it should hold the 120 records that are known, but came empty; nothing is deleted/,
        },
      ),
      on(
        "an empty list, with `--allow-mass-delete`",
        always(json({ meta: { limit: 10, next: null, offset: 0, total_count: 0 }, objects: [] })),
        notWhole,
        {
          afterNight: true,
          allowMassDelete: true,
          left: "kept",
          says: /^build list: it should hold the 120 records that are known, but came empty/,
        },
      ),
      on(
        "half a list, `total_count` too, all other details 404",
        keepBack("build", 60, status(404)),
        { exit: 3, run: "partial", walk: "whole" },
        { afterNight: true, left: "kept", says: /^60 of 120 known builds were not in the walk/ },
      ),
    ],
  },
  {
    title: "Refusals",
    cases: [
      on(
        "503 with `Retry-After`: 3, while other requests wait",
        once(status(503, { "retry-after": "3" })),
        succeeds,
        { waits: [3000, 3000], isHeld: true },
      ),
      on(
        "429 with `Retry-After`: 3",
        retryAfter(() => "3"),
        succeeds,
        { waits: [3000, 3000] },
      ),
      on("429 with `Retry-After`: a date in a minute", retryAfter(dateIn(60_000)), succeeds, {
        waits: [60_000, 60_000],
      }),
      on(
        "429 with `Retry-After`: 0",
        retryAfter(() => "0"),
        succeeds,
        { waits: [0, 0] },
      ),
      on(
        "429 with `Retry-After`: -5",
        retryAfter(() => "-5"),
        succeeds,
        { waits: [0, 0] },
      ),
      on(
        "429 with `Retry-After`: a word",
        retryAfter(() => "soon"),
        succeeds,
        { waits: [0, 500] },
      ),
      on("429 without `Retry-After`", once(status(429)), succeeds, { waits: [0, 500] }),
      on(
        "429 with `Retry-After`: a year",
        retryAfter(() => String(365 * 86_400)),
        isLost,
        { says: /the service asks for a pause for .*: GET .*offset=40.* answered 429/ },
      ),
      on("429 with `Retry-After`: a date in a year", retryAfter(dateIn(365 * 86_400_000)), isLost, {
        says: /the service asks for a pause for .*: GET .*offset=40.* answered 429/,
      }),
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
      on("302 to: the same page", once(moved((asked) => `${asked.path}?limit=10&offset=40&x=1`)), succeeds),
      on(
        "302 to: another origin",
        (stage) =>
          when(
            page40,
            moved(() => stage.elsewhere),
          ),
        breaksOff,
        { says: /GET .*offset=40.* answered 302 to 'http:.*', which is not followed/ },
      ),
      on("302 in a circle", at40(moved((asked) => `${asked.path}?limit=10&offset=40`)), breaksOff, {
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
      on(
        "once: gzip that cannot be unpacked",
        once(bytes((body) => gzipSync(body).subarray(0, 99), gzip)),
        succeeds,
      ),
      on(
        "an encoding that nobody asked for",
        at40(bytes((body) => body, { "content-encoding": "rot13" })),
        breaksOff,
        {
          says: /GET .*offset=40.* answered with an unusable body: its content encoding 'rot13' was not requested/,
        },
      ),
      on("once: the connection closed before the reply", once(hangUp), succeeds),
      on(
        "once: the connection closed in the body",
        once(
          bytes((body) => half(body, (end) => end.close()), {
            "content-length": "999999",
            connection: "close",
          }),
        ),
        succeeds,
      ),
      on(
        "once: `Content-Length` too large",
        once(bytes((body) => half(body, (end) => end.close()), { "content-length": "999999" })),
        succeeds,
        { settings: inTime },
      ),
      on(
        "once: `Content-Length` too small",
        once(bytes((body) => half(body, (end) => end.close()), { "content-length": "99" })),
        succeeds,
        { settings: inTime },
      ),
      on("once: no reply", once(silence), succeeds, { settings: inTime }),
      on("once: a body that stops in the middle", once(bytes((body) => half(body))), succeeds, {
        settings: inTime,
      }),
      on("once: a body byte by byte", once(bytes(drip)), succeeds, { settings: inTime }),
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
        () =>
          when(
            ({ path }) => path === "/api/v1/",
            page((body) => Reflect.deleteProperty(body, "build")),
          ),
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
        on(
          `the root listing: ${what}`,
          () => when(({ path }) => path === "/api/v1/", reply),
          { exit: 6, run: "failed", walk: "none" },
          { left: "nothing", says: /GET .*\/api\/v1\// },
        ),
      ),
    ],
  },
  {
    title: "Bad records",
    cases: [
      on(
        "no id",
        record("build", 45, (build) => Reflect.deleteProperty(build, "id")),
        notWhole,
        {
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
      on(
        "a `resource_uri` of another resource",
        record("build", 45, (build) => Object.assign(build, { resource_uri: "/api/v1/user/3/" })),
        quarantined,
        { places: [45], payload: expect.objectContaining({ resource_uri: "/api/v1/user/3/" }) },
      ),
      on(
        "a `resource_uri` of another resource in the project that a file holds",
        record("file", 15, ({ project }) =>
          Object.assign(project as WireRecord, { resource_uri: "/api/v1/user/3/" }),
        ),
        quarantined,
        {
          list: "file",
          places: [15],
          payload: expect.objectContaining({
            project: expect.objectContaining({ resource_uri: "/api/v1/user/3/" }),
          }),
        },
      ),
      on(
        "a `resource_uri` that cannot be read",
        record("build", 45, (build) => Object.assign(build, { resource_uri: "here" })),
        succeeds,
        { left: "stored" },
      ),
      ...["NaN", "Infinity", "-Infinity"].map((token) =>
        on(`a number that JSON does not have: \`${token}\``, foreignNumber("build", 45, token), quarantined, {
          places: [45],
          payload: expect.stringContaining(`"type":${token},`),
        }),
      ),
      on(
        "bytes that do not fit the charset",
        () =>
          when(
            page40,
            bytes((body) => {
              const at = body.indexOf('"type":"') + 8;
              body[at] = 0xe9;
              return body;
            }),
          ),
        succeeds,
        {
          left: "stored",
          warns: /^bytes that do not fit the charset were replaced by U\+FFFD in build \d+;/,
        },
      ),
      on(
        "all ids as integers",
        always(page(({ objects }) => objects.map((build) => Object.assign(build, { id: Number(build.id) })))),
        succeeds,
        { left: "stored" },
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
      ...(
        [
          [
            "null everywhere",
            (build) => Object.keys(build).map((key) => key !== "id" && Object.assign(build, { [key]: null })),
          ],
          ["a text with: 10 MB", (build) => Object.assign(build, { output: "x".repeat(10_000_000) })],
          ["a text with: U+0000", (build) => Object.assign(build, { output: "a\u0000b" })],
          ["a text with: a lone surrogate", (build) => Object.assign(build, { output: "a\ud800b" })],
        ] as [string, (build: WireRecord) => unknown][]
      ).map(([what, change]) => on(what, record("build", 45, change), succeeds, { left: "stored" })),
      on(
        "the same id twice on a page",
        at40(page(({ objects }) => objects.splice(5, 0, { ...objects[4], state: "building" }))),
        succeeds,
        { left: "stored" },
      ),
    ],
  },
];

/** A fault that a test of its own shows, since it is not of the service, or not of one run. */
export interface ShownElsewhere {
  fault: string;
  exit: string;
  outcome: string;
  file: string;
  /** The test's name, or that of its group, as it stands there. */
  test: string;
}

const resumes = "the next run resumes";
const waitedOut = "waited out";

export const SHOWN_ELSEWHERE: readonly ShownElsewhere[] = [
  {
    fault: "SIGKILL at random moments",
    exit: "137",
    outcome: `\`interrupted\`; ${resumes}`,
    file: "test/mirror/run/crash.test.ts",
    test: "a run that is killed ends, once it is let be, as if nothing had been",
  },
  {
    fault: "SIGINT or SIGTERM",
    exit: "130, 143",
    outcome: `\`interrupted\`; ${resumes}`,
    file: "test/cli/sync/sync-command.test.ts",
    test: "by %s exits %i, and the next sync ends in the rows of an undisturbed one",
  },
  {
    fault: "a second signal",
    exit: "130, 143",
    outcome: "ends at once",
    file: "test/cli/context/run-command.test.ts",
    test: "the second ends a command that does not listen at once",
  },
  {
    fault: "a stop that takes longer than 9 s",
    exit: "143",
    outcome: "cut short",
    file: "test/cli/context/run-command.test.ts",
    test: "a command that hangs is cut short 9 s after the first, and says so",
  },
  {
    fault: "a checkpoint older than six hours",
    exit: "0",
    outcome: "the walk starts again",
    file: "test/mirror/run/interrupted-run.test.ts",
    test: "is not gone on from when its checkpoint is older than six hours",
  },
  {
    fault: "ten `sync` at once",
    exit: "0, 10",
    outcome: "one runs, nine say who runs",
    file: "test/mirror/run/killed-server.test.ts",
    test: "of ten syncs started at once one runs, and nine exit 10 and say who runs",
  },
  {
    fault: "the run's lock goes to another run",
    exit: "10",
    outcome: "nothing more is written",
    file: "test/mirror/run/all-or-nothing.test.ts",
    test: "a run whose lock went to another run writes nothing more and ends with exit code 10",
  },
  {
    fault: "the leader of three workers is killed in a run",
    exit: "137",
    outcome: "another worker leads, and resumes",
    file: "test/cli/worker/several-workers.test.ts",
    test: "go on without a leader that was killed in the middle of a run",
  },
  {
    fault: "the leader of three workers is asked to stop",
    exit: "143",
    outcome: "another worker leads, and resumes",
    file: "test/cli/worker/several-workers.test.ts",
    test: "hand over at once when the leader is asked to stop",
  },
  {
    fault: "the leader of three workers is frozen in a run, and wakes",
    exit: "goes on",
    outcome: "another worker leads, and resumes; the frozen one writes nothing more and stands by",
    file: "test/cli/worker/several-workers.test.ts",
    test: "go on without a leader that was frozen in the middle of a run, and it stands by when it wakes",
  },
  {
    fault: "the network of the leader of three workers falls silent",
    exit: "goes on",
    outcome: "another worker leads, and resumes; the silent one writes nothing more and stands by",
    file: "test/cli/worker/several-workers.test.ts",
    test: "go on without a leader whose network fell silent in the middle of a run",
  },
  {
    fault: "Postgres: killed and started again",
    exit: "0",
    outcome: waitedOut,
    file: "test/mirror/run/killed-server.test.ts",
    test: "killed and started again costs the run nothing",
  },
  {
    fault: "Postgres killed for good",
    exit: "4",
    outcome: "the hint names the server's log",
    file: "test/mirror/run/killed-server.test.ts",
    test: "killed for good ends the run with exit code 4, and the hint names its log",
  },
  {
    fault: "Postgres: ends all sessions",
    exit: "0",
    outcome: waitedOut,
    file: "test/mirror/run/interrupted-run.test.ts",
    test: "and ends all sessions is waited out: the run ends like an undisturbed one",
  },
  {
    fault: "Postgres: refuses connections for a while",
    exit: "0",
    outcome: waitedOut,
    file: "test/mirror/run/interrupted-run.test.ts",
    test: "and refuses connections for a while is waited out",
  },
  {
    fault: "Postgres: out of connections",
    exit: "0",
    outcome: waitedOut,
    file: "test/mirror/run/killed-server.test.ts",
    test: "a server out of connections in mid-run is waited for",
  },
  {
    fault: "Postgres stays away",
    exit: "4",
    outcome: resumes,
    file: "test/mirror/run/interrupted-run.test.ts",
    test: "and stays away ends the run with exit code 4 and nothing half-written; the next one goes on",
  },
  {
    fault: "Postgres' disk is full",
    exit: "4",
    outcome: `at once; ${resumes}`,
    file: "test/mirror/run/interrupted-run.test.ts",
    test: "and whose disk is full ends the run with exit code 4 at once and nothing half-written",
  },
  {
    fault: "an untrusted certificate",
    exit: "5",
    outcome: "refused before anything is sent",
    file: "test/mirror/api/tls.test.ts",
    test: "whose certificate nobody vouches for is refused before anything is sent, with a hint",
  },
  {
    fault: "a service that accepts and says nothing",
    exit: "5",
    outcome: "the time-out",
    file: "test/mirror/api/tls.test.ts",
    test: "a service that takes the connection and says nothing of TLS runs into the time-out",
  },
  {
    fault: "429 and 503 while other requests wait",
    exit: "-",
    outcome: "all are held back",
    file: "test/mirror/api/host-gate.test.ts",
    test: "hold all requests back: %i with Retry-After as long as it says",
  },
  {
    fault: "429 while the pace is fast",
    exit: "-",
    outcome: "the pace slows",
    file: "test/mirror/api/host-gate.test.ts",
    test: "slow the pace once a round; every answer eases it",
  },
  {
    fault: "a later run while `Retry-After` lasts",
    exit: "5",
    outcome: "no request; the error says until when",
    file: "test/mirror/run/service-in-trouble.test.ts",
    test: "a run with the pace of an earlier one asks nothing while the service wants to be left alone",
  },
  {
    fault: "more missing records than one run may ask for",
    exit: "3",
    outcome: "the next run does the rest",
    file: "test/mirror/run/confirm-deletions.test.ts",
    test: "are asked for by turns of their lists up to the bound, the others in the next run",
  },
  {
    fault: "a run that dies before it asked for missing records",
    exit: "143",
    outcome: "the next run does the rest",
    file: "test/mirror/run/deletions.test.ts",
    test: "is deleted by the next run when this one dies before it asked",
  },
  {
    fault: "any record, at random",
    exit: "-",
    outcome: "stored when it has an id, else in `sync.quarantine`",
    file: "test/mirror/load/hostile-records.test.ts",
    test: "stores every record with an id and puts the rest aside, at random",
  },
  {
    fault: "the quarantine is tried again",
    exit: "0, 3",
    outcome: "stored where that is possible now",
    file: "test/cli/quarantine-command.test.ts",
    test: "--retry stores what can be stored by now, tells the rest and exits 3; 0 when nothing stays",
  },
  {
    fault: "any change of a list between two pages, at random",
    exit: "-",
    outcome: "no record is missed",
    file: "test/mirror/walk/schedules.test.ts",
    test: "loses no record that was there all through a whole walk, whatever comes and goes meanwhile",
  },
  {
    fault: "builds appear far below the head of the list",
    exit: "0",
    outcome: "a search finds them in the same run, and the round",
    file: "test/mirror/run/head-deficit.test.ts",
    test: "is found by the next %s: %i and %i",
  },
  {
    fault: "builds go, far below the head of the list",
    exit: "0",
    outcome: "a search finds them in the same run, and the round",
    file: "test/mirror/run/head-deficit.test.ts",
    test: "costs a round less than ten requests where it is one deletion",
  },
  {
    fault: "the count of the builds is too high, for good",
    exit: "3, 0",
    outcome: "the run says so after its search; the next one is full and explains it",
    file: "test/mirror/run/head-deficit.test.ts",
    test: "makes an incremental run partial, which searched for them, and the next run full",
  },
  {
    fault: "a record leaves its list, and its id leads out of the API",
    exit: "3, 0",
    outcome: "kept, and listed in `docmirror status`; after three runs it costs no verdict",
    file: "test/mirror/run/deletions.test.ts",
    test: "whose id leads out of the API: after three nights it costs no verdict, and status lists it",
  },
  {
    fault: "some replies, or all, come from a replica that is eight minutes behind",
    exit: "0",
    outcome: "nothing wrongly deleted; what is gone is marked after the lag",
    file: "test/mirror/run/replicas.test.ts",
    test: "loses no record and no build vanishes in rounds and syncs, and what is really gone is marked after the lag",
  },
  {
    fault: "builds appear where as many others go",
    exit: "0",
    outcome: "the share of the builds that is read there finds both",
    file: "test/mirror/run/shares.test.ts",
    test: "show an edit, and a deletion that a build with an old date hides",
  },
  {
    fault: "our clock ten years ahead",
    exit: "0",
    outcome: "the next run is full and repairs it",
    file: "test/mirror/run/head-deficit.test.ts",
    test: "after a run whose clock stood ten years ahead the next one is full, deletes what went and follows what moves",
  },
  {
    fault: "the service is lost after the walks",
    exit: "5",
    outcome: "the next run does the rest",
    file: "test/mirror/run/unfinished-phases.test.ts",
    test: "makes the run partial, with how many references nobody asked for, and the next run asks",
  },
  {
    fault: "one list fails for ever",
    exit: "5",
    outcome: "the other lists are complete",
    file: "test/mirror/run/unfinished-phases.test.ts",
    test: "for ever by %s keeps no other list from deletions and references",
  },
  {
    fault: "another service than that of the mirror",
    exit: "2",
    outcome: "refused at once",
    file: "test/store/ledger/mirrored-service.test.ts",
    test: "and refuses another one before anything is asked or written",
  },
  {
    fault: "any JSON at any place of any reply, at random",
    exit: "-",
    outcome: "no other list is touched; the next run repairs it",
    file: "test/mirror/run/hostile-replies.test.ts",
    test: "is no bug of ours, and costs no other list anything, wherever it stands",
  },
];

function moved(to: (asked: { path: string }) => string): Parameters<typeof when>[1] {
  return (_next, asked) => new Response(null, { status: 302, headers: { location: to(asked) } });
}
