import { beforeAll, describe, expect, test } from "vitest";
import {
  HttpStatusError,
  LockedError,
  NetworkError,
  StoppedError,
  StoreError,
  UnexpectedShapeError,
} from "../../../src/base/errors.ts";
import { estimateFullWalks, findListFacts, type PlanInput, planRun } from "../../../src/mirror/lists/plan.ts";
import {
  emptyCounts,
  isPartial,
  NOTHING_UNFINISHED,
  type RunSummary,
  type WalkSummary,
} from "../../../src/mirror/lists/summary.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { useDatabase } from "../../support/use-database.ts";

const endpoints = (name: string) => ({ list_endpoint: `/api/v1/${name}/`, schema: `/${name}/schema/` });
const resources = Object.fromEntries(RESOURCES.map((name) => [name, endpoints(name)]));
const AUTO = { fullEveryDays: "auto" } as const;
const input: PlanInput = {
  kind: null,
  resources: null,
  root: { resources, unknown: [] },
  buildsReadSince: "2024-05-14T02:00:00Z",
  hasUnsettledDeficit: false,
  fullWalkSeconds: { all: 1801, build: 1801 },
  fullEveryDays: 7,
  now: new Date("2024-05-15T02:00:00Z"),
};

describe("a plan", () => {
  test.each<[string, Partial<PlanInput>, "full" | "incremental"]>([
    ["no word and builds that were all read yesterday", {}, "incremental"],
    ["no word and builds that were never all read", { buildsReadSince: null }, "full"],
    ["builds that were all read since two rounds ago", { buildsReadSince: "2024-05-01T02:00:00Z" }, "full"],
    ["ones that began some hours later that night", { buildsReadSince: "2024-05-01T08:00:00Z" }, "full"],
    ["a day less than two rounds ago", { buildsReadSince: "2024-05-02T02:00:00Z" }, "incremental"],
    ["builds read ten years ahead", { buildsReadSince: "2034-05-14T02:00:00Z" }, "full"],
    ["a count that did not agree last time", { hasUnsettledDeficit: true }, "full"],
    ["full every day", { fullEveryDays: 1 }, "full"],
    ["auto and full walks of 30 minutes", { ...AUTO, fullWalkSeconds: { all: 1800, build: 9 } }, "full"],
    ["auto and longer ones", AUTO, "incremental"],
    ["auto and longer ones, two weeks ago", { ...AUTO, buildsReadSince: "2024-05-01T02:00:00Z" }, "full"],
    ["full asked for", { kind: "full" }, "full"],
    ["incremental in an empty mirror", { kind: "incremental", buildsReadSince: null }, "incremental"],
  ])("with %s", (_case, over, kind) => {
    const plan = planRun({ ...input, ...over });
    expect(plan.kind).toBe(kind);
    expect(plan.absent).toEqual([]);
    const kindOf = (resource: string) => (resource === "build" && kind === "incremental" ? "head" : "full");
    expect(plan.walks.map((walk) => [walk.resource, walk.listPath, walk.kind])).toEqual(
      RESOURCES.map((resource) => [resource, `/api/v1/${resource}/`, kindOf(resource)]),
    );
  });

  test("holds only what was asked for, in the order of references, and names what is absent", () => {
    const { user: _user, ...others } = resources;
    const root = { resources: others, unknown: [] };
    const plan = planRun({ ...input, resources: ["version", "user", "project"], root });
    expect(plan.walks.map(({ resource }) => resource)).toEqual(["project", "version"]);
    expect(plan.absent).toEqual(["user"]);
  });
});

test.each<[string, Partial<PlanInput>, boolean]>([
  ["of a list that is walked within 30 minutes", { fullWalkSeconds: { all: 9999, build: 1800 } }, true],
  ["of a longer list", {}, false],
  ["that the user asked for alone", { kind: "incremental", fullWalkSeconds: { all: 9, build: 9 } }, false],
])("a head %s may be followed by a full walk: %s", (_case, over, expected) => {
  const { walks } = planRun({ ...input, ...over });
  const after = walks.filter(({ kind, mayWalkInFull }) => kind === "head" && mayWalkInFull);
  expect(after.map(({ resource }) => resource)).toEqual(expected ? ["build"] : []);
});

test.each<[string, Partial<PlanInput>, number | null]>([
  ["each night of a week", {}, 7],
  ["each night of the days that auto takes for long walks", AUTO, 7],
  ["no night of full runs", { fullEveryDays: 1, buildsReadSince: "2024-05-15T00:00:00Z" }, null],
  ["no sync that the user asked for alone", { kind: "incremental" }, null],
])("a share of the builds is read in %s", (_case, over, days) => {
  const { walks } = planRun({ ...input, ...over });
  const shared = walks.filter(({ roundDays }) => roundDays !== null);
  expect(shared.map(({ resource, roundDays }) => [resource, roundDays])).toEqual(
    days === null ? [] : [["build", days]],
  );
});

describe("a run's exit code", () => {
  const url = "http://service.invalid/";
  const summary = (status: RunSummary["status"]) => ({ status }) as RunSummary;
  test.each<[RunSummary["status"], unknown, number]>([
    ["succeeded", null, 0],
    ["partial", null, 3],
    ["partial", new UnexpectedShapeError("x", { url }), 3],
    ["partial", new NetworkError("x", { url }), 5],
    ["partial", new HttpStatusError("x", { url, status: 429 }), 5],
    ["partial", new HttpStatusError("x", { url, status: 500 }), 3],
    ["failed", new NetworkError("x", { url }), 5],
    ["failed", new HttpStatusError("x", { url, status: 500 }), 5],
    ["failed", new UnexpectedShapeError("x", { url }), 6],
    ["failed", new StoreError("x"), 4],
    ["failed", new LockedError("x"), 10],
    ["failed", new TypeError("x"), 1],
    ["interrupted", new StoppedError("SIGINT"), 130],
    ["interrupted", new StoppedError("SIGTERM"), 143],
  ])("%s by %s is %i", (status, error, code) => {
    expect(exitCodeOfRun({ summary: summary(status), error })).toBe(code);
  });
});

test.each<[Partial<WalkSummary>, boolean]>([
  [{ walk: "whole" }, false],
  [{ walk: "head" }, false],
  [{ walk: "skipped" }, false],
  [{ walk: "not_whole" }, true],
  [{ walk: "whole", quarantined: 1 }, true],
  [{ walk: "head", reason: "the counts do not agree" }, true],
])("a run with a walk %j is partial: %s", (walk, expected) => {
  const whole: WalkSummary = { walk: "whole", ...emptyCounts(), total_count: 0 };
  const resources = { user: whole, build: { ...whole, ...walk } };
  expect(isPartial({ resources, unfinished: NOTHING_UNFINISHED })).toBe(expected);
});

test.each([
  "deletions",
  "references",
  "open_builds",
])("a run that leaves %s unfinished is partial", (phase) => {
  expect(isPartial({ resources: {}, unfinished: { ...NOTHING_UNFINISHED, [phase]: 1 } })).toBe(true);
});

const { sql } = useDatabase();

beforeAll(async () => {
  const counts: [number, string, number | null][] = [
    [1, "build", 10],
    [2, "build", 800_000],
    // A walk that broke off before its first page counts nothing.
    [3, "build", null],
    [2, "project", 100_000],
  ];
  for (const run of [1, 2, 3])
    await sql`
      insert into sync.runs (id, kind, status, started_at, heartbeat_at, pid, host) overriding system value
      values (${run}, 'full', 'succeeded', now(), now(), 1, 'here')`;
  for (const [run, resource, count] of counts)
    await sql`
      insert into sync.walks (run_id, resource, started_at, total_count) values (${run}, ${resource}, now(), ${count})`;
});

describe("a full walk of 900,000 records", () => {
  test("takes 30 minutes at 100 a page and 5 requests a second", async () => {
    const seconds = estimateFullWalks(await findListFacts(sql), { pageSize: 100, ratePerSecond: 5 });
    expect(seconds).toEqual({ all: 1800, build: 1600 });
  });

  test("takes no time that counts where there is no rate", async () => {
    expect(estimateFullWalks(await findListFacts(sql), { pageSize: 100, ratePerSecond: 0 })).toEqual({
      all: 0,
      build: 0,
    });
  });

  test("takes longer where the service gives smaller pages than it is asked for", async () => {
    const meta = JSON.stringify({ limit: 20 });
    await sql`
      insert into sync.pages (resource, seq, request, body_hash, meta, ids, loaded_at, run_id, normalizer_version)
      values ('build', 0, '/', '\\x00', ${meta}::text::jsonb, '{}', now(), 1, 1)`;
    const seconds = estimateFullWalks(await findListFacts(sql), { pageSize: 100, ratePerSecond: 5 });
    expect(seconds).toEqual({ all: 8200, build: 8000 });
    await sql`delete from sync.pages`;
  });

  test("takes 100 records a page with auto, and for a list with a found size that many", async () => {
    const auto = { pageSize: "auto" as const, ratePerSecond: 5 };
    expect(estimateFullWalks(await findListFacts(sql), auto)).toEqual({ all: 1800, build: 1600 });
    await sql`insert into sync.service (base_url, resources, noted_at) values ('http://there.invalid', '{}', now())`;
    await sql`insert into sync.page_sizes (resource, page_size, service) values ('build', 400, true)`;
    expect(estimateFullWalks(await findListFacts(sql), auto)).toEqual({ all: 600, build: 400 });
    // A size that is set does not care.
    expect(estimateFullWalks(await findListFacts(sql), { ...auto, pageSize: 100 })).toEqual({
      all: 1800,
      build: 1600,
    });
  });
});

describe("a mirror without a walk", () => {
  const empty = useDatabase();

  test("has nothing to estimate by", async () => {
    const estimate = estimateFullWalks(await findListFacts(empty.sql), { pageSize: 100, ratePerSecond: 5 });
    expect(estimate).toEqual({ all: 0, build: 0 });
  });
});
