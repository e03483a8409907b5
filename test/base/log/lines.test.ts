/** @module-tag long */
import { beforeAll, describe, expect, it } from "vitest";
import * as play from "../../mirror/run/fault-play.ts";
import { type CliResult, runCli, startCli } from "../../support/cli.ts";
import { findLogCalls, findSentences, sentencesOf } from "../../support/log-calls.ts";
import { type Intercept, startQuickWorld } from "../../support/quick-world.ts";

type Line = Record<string, unknown> & { msg: string };

/** Work of a run: each of its lines has the run. The lease is released when the run is over. */
const RUN = /^mirror\/|^report\/refresh\/after-run|^cli\/output\/progress|^store\/connection\/patience/;
const OF_RUNS = sentencesIn(RUN).filter((sentence) => sentence !== "the lease of the run is released");
/** Lines about one list: each has its name. */
const OF_LISTS = [
  ...sentencesIn(/^mirror\/(?:builds|lists)\/|^mirror\/run\/upstream-schemas/),
  "requesting a missing record failed",
  "requesting a referenced record failed",
];
const SENTENCES = findSentences();

function sentencesIn(places: RegExp): string[] {
  return findLogCalls()
    .filter(({ place }) => places.test(place))
    .flatMap(({ message }) => sentencesOf(message) ?? []);
}

const { first, holding, keepBack, listOf, record, status, when } = play;

const isDetailOfBuild: Parameters<typeof first>[1] = ({ resource, id }) =>
  resource === "build" && id !== undefined;
/** Retries, drift, records that cannot be stored, a hole, details that fail. */
const FAULTS: readonly play.Play[] = [
  () => when(first(2, listOf("user")), status(500)),
  record("project", 2, (project) => Object.assign(project, { surprise: [1] })),
  record("build", 5, (build) => Reflect.deleteProperty(build, "id")),
  () => when(holding("file", 3), status(500)),
  keepBack("version", 3, status(500)),
  () => when(first(3, isDetailOfBuild), status(500)),
];

function playAll(stage: play.Stage): Intercept {
  return FAULTS.map((fault) => fault(stage)).reduce((outer, inner) => (request, next) => {
    const onward = async () => {
      const reply = await inner(request, next);
      if (reply === "hang up") throw new Error("no fault here hangs up");
      return reply;
    };
    return outer(request, onward);
  });
}

const LOG = { DOCMIRROR_LOG_LEVEL: "debug", DOCMIRROR_LOG_FORMAT: "json" };
let results: { sync: CliResult; watch: CliResult; worker: CliResult };

beforeAll(async () => {
  let intercept: Intercept | undefined;
  await using quick = await startQuickWorld(
    { users: 30, projects: 20, versions: 60, files: 40, builds: 200, startAt: new Date(), clockSteps: false },
    (request, next) => (intercept ? intercept(request, next) : next()),
  );
  const env = {
    ...LOG,
    DATABASE_URL: quick.databaseUrl,
    DOCMIRROR_BASE_URL: quick.baseUrl.href,
    DOCMIRROR_SOURCE_TIMEZONE: quick.world.settings.timeZone,
    DOCMIRROR_RATE: "0",
    DOCMIRROR_RETRIES: "2",
    DOCMIRROR_PAGE_SIZE: "20",
    DOCMIRROR_HTTP_PORT: "0",
    DOCMIRROR_SYNC_CRON: "0 0 29 2 *",
    DOCMIRROR_WATCH_CRON: "* * * * * *",
  };
  await runCli(["sync"], { env });
  quick.world.advance(20 * 60_000);
  intercept = playAll({ world: quick.world, sleeps: [], elsewhere: "http://127.0.0.1:1" });
  const sync = await runCli(["sync", "--full"], { env });
  quick.world.advance(20 * 60_000);
  const watch = await runCli(["watch", "--once"], { env });
  // The night that the worker has missed: it makes up for it at once.
  await using worker = startCli(["worker"], { env: { ...env, DOCMIRROR_SYNC_CRON: "* * * * *" } });
  await worker.waitFor(
    "stderr",
    /"msg":"sync succeeded"|"job":"sync".*"msg":"run (?:failed|ended, but not all is well)"/,
  );
  const up = /"url":"([^"]+)","msg":"the report page and the API are up"/;
  const [, page = ""] = await worker.waitFor("stderr", up);
  await fetch(`${page}/api/v1/build/?limit=1`);
  await worker.waitFor("stderr", /(?:"kind":"watch","status":"\w+","msg":"run closed"[\s\S]*){2}/);
  results = { sync, watch, worker: { ...(await worker.stop()), stderr: worker.stderr() } };
});

function textsOf(name: keyof typeof results): string[] {
  return results[name].stderr.split("\n").filter((text) => text !== "");
}

const linesOf = (name: keyof typeof results) => textsOf(name).map((text) => JSON.parse(text) as Line);

it("looks for lines of runs and lists where these write them", () => {
  expect(OF_RUNS).toEqual(expect.arrayContaining(["run opened", "request failed, trying again"]));
  expect(OF_LISTS).toEqual(expect.arrayContaining(["walk is not whole", "reading a schema failed"]));
});

describe.each(["sync", "watch", "worker"] as const)("the log of a %s", (name) => {
  it("is one JSON object a line, none of which says a thing twice", () => {
    const texts = textsOf(name);
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts) {
      const line = JSON.parse(text) as Line;
      expect(JSON.stringify(line)).toBe(text);
      expect(line).toMatchObject({ level: expect.any(Number), time: expect.stringMatching(/Z$/) });
    }
  });

  it("has sentences of a fixed set", () => {
    expect(linesOf(name).filter(({ msg }) => !SENTENCES.has(msg))).toEqual([]);
  });

  it("has names like those of the run summary", () => {
    const names = linesOf(name).flatMap((line) => namesIn(line));
    expect(names.filter((key) => !/^[a-z]+(?:_[a-z]+)*$/.test(key))).toEqual([]);
  });

  it("names the run in each line of a run", () => {
    const lines = linesOf(name);
    const ofRuns = lines.filter(({ msg }) => OF_RUNS.includes(msg));
    expect(ofRuns.filter(({ run_id }) => typeof run_id !== "number")).toEqual([]);
    const idsOf = (sentence: string) =>
      lines.flatMap(({ msg, run_id }) => (msg === sentence ? [run_id] : []));
    const [opened, closed] = [idsOf("run opened"), idsOf("run closed")];
    expect(opened.length).toBeGreaterThan(0);
    expect(opened.slice(0, closed.length)).toEqual(closed);
    if (name === "worker") return;
    const placeOf = (sentence: string) => lines.findIndex(({ msg }) => msg === sentence);
    const inside = lines.slice(placeOf("run opened"), placeOf("run closed") + 1);
    expect(inside.filter(({ run_id }) => run_id !== opened[0])).toEqual([]);
  });

  it("names the list in each line about a list, and in no other", () => {
    for (const line of linesOf(name)) {
      if (!OF_RUNS.includes(line.msg)) continue;
      const [, asked] = /GET \S+\/api\/v1\/(\w+)\//.exec(`${line.error}`) ?? [];
      const isAboutList = OF_LISTS.includes(line.msg) || asked !== undefined;
      expect({ ...line, isAboutList: line.resource !== undefined }).toEqual({ ...line, isAboutList });
      if (asked !== undefined) expect(line).toMatchObject({ resource: asked });
    }
  });
});

describe("the faults", () => {
  it("are in the log, each with its run and its list", () => {
    const sync = linesOf("sync");
    const run_id = sync.find(({ msg }) => msg === "run opened")?.run_id;
    for (const [msg, resource] of [
      ["request failed, trying again", "user"],
      ["request failed, trying again", "file"],
      ["walk is not whole", "build"],
      ["requesting a missing record failed", "version"],
      ["request failed, trying again", "version"],
    ])
      expect(sync).toContainEqual(expect.objectContaining({ msg, run_id, resource }));
    for (const msg of ["requested the details of missing records", "reports refreshed", "run closed"])
      expect(sync).toContainEqual(expect.objectContaining({ msg, run_id }));
    const access = linesOf("worker").find(({ msg }) => msg === "a request was answered");
    expect(access).toMatchObject({ request_id: expect.any(String), path: "/api/v1/build/", status: 200 });
  });
});

function namesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [name, ...namesIn(inner)]);
}
