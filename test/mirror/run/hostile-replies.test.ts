/**
 * Any JSON may come at any place of any reply. No run takes that for a bug of its own, and it costs no other list anything.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EXIT, MirrorError } from "../../../src/base/errors.ts";
import { exitCodeOfRun, type RunResult } from "../../../src/mirror/run/close-run.ts";
import type { SyncResult } from "../../../src/mirror/run/run.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import type { SyncKind } from "../../../src/store/schema/runs.ts";
import { replaceValue } from "../../support/canonical-json.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { hostileJson } from "../../support/wire-records.ts";

const WORLD = { users: 6, projects: 5, versions: 8, files: 8, builds: 40 };
/** Examples of the property; DOCMIRROR_TEST_RUNS=5000 looks longer. */
const RUNS = Number(process.env.DOCMIRROR_TEST_RUNS ?? 100);

const nest = (open: string, inner: string, close: string, levels: number) =>
  open.repeat(levels) + inner + close.repeat(levels);
/** What has no honest text: a method that String() calls is a value, or the stack ends before the value does. */
const NASTIEST = [
  `{"toString": null}`,
  `{"toString": 1}`,
  nest("[", "", "]", 3000),
  nest("[", "", "]", 20_000),
];
const NASTY = [
  ...NASTIEST,
  `{"toJSON": 1, "valueOf": null, "length": -1}`,
  `{"__proto__": {"id": "1"}}`,
  `{"then": 1}`,
  `1e400`,
  `"\\u0000\\ud800"`,
  ...[400, 700, 3000, 7000, 20_000].map((levels) => nest('{"a":', "1", "}", levels)),
];

type What = "root" | "schema" | "list" | "detail";

interface Blow {
  what: What;
  resource: Resource;
  /** Which of the meant requests is hit, from 0; null: each of them. */
  which: number | null;
  steps: (string | number)[];
  json: string;
}

let quick: QuickWorld;
let blow: Blow | null = null;
let met = 0;
/** The keys on the way to the value that was replaced. */
let hit: string[][] = [];

beforeAll(async () => {
  quick = await startQuickWorld(WORLD, async (request, next) => {
    const reply = await next();
    const { pathname } = new URL(request.url);
    const [resource, rest] = pathname.split("/").slice(3).filter(Boolean);
    const what: What =
      resource === undefined ? "root" : rest === undefined ? "list" : rest === "schema" ? "schema" : "detail";
    if (blow === null || blow.what !== what || (what !== "root" && blow.resource !== resource)) return reply;
    if (reply.status !== 200 || (blow.which !== null && met++ !== blow.which)) return reply;
    const { text, keys } = replaceValue(await reply.text(), blow.steps, blow.json);
    hit.push(keys);
    return new Response(text, { headers: { "content-type": "application/json" } });
  });
  expect((await quick.sync({ kind: "full" })).summary.status).toBe("succeeded");
});

afterAll(() => quick[Symbol.asyncDispose]());

/** A run with one reply, or each of its kind, spoilt. */
async function runUnder(one: Blow, kind: SyncKind | "watch"): Promise<RunResult | SyncResult> {
  [blow, met, hit] = [one, 0, []];
  quick.world.advance(3600);
  // A schema is asked for once a day.
  await quick.sql`update sync.upstream_schemas set asked_at = '2000-01-01'`;
  try {
    return kind === "watch" ? await quick.watch() : await quick.sync({ kind });
  } catch (error) {
    // What kept the run from beginning has its own exit code.
    if (error instanceof MirrorError) throw new Error(`no run began: ${error.message}`, { cause: error });
    throw error;
  } finally {
    blow = null;
  }
}

function expectHonest(one: Blow, result: RunResult): void {
  const { summary, error } = result;
  expect(exitCodeOfRun(result), String((error as Error | null)?.stack)).not.toBe(EXIT.bug);
  const touched =
    one.what === "root" ? hit.map((keys) => keys[0] ?? "all") : one.what === "schema" ? [] : [one.resource];
  if (touched.includes("all")) return;
  for (const resource of RESOURCES) {
    const walk = summary.resources[resource];
    if (touched.includes(resource) || walk === undefined) continue;
    const expected = { walk: summary.kind === "full" || resource !== "build" ? "whole" : "head" };
    expect(walk, `${resource}: ${walk.reason}`).toMatchObject(expected);
  }
}

const KINDS = ["full", "incremental", "watch"] as const;

describe("a reply with a hostile value in it", () => {
  const standAt = async (what: What, steps: (string | number)[]) => {
    for (const json of [NASTIEST[0], NASTIEST[3]] as string[]) {
      const one: Blow = { what, resource: "build", which: 0, steps, json };
      expectHonest(one, await runUnder(one, "full"));
      expect(hit).toEqual([steps]);
    }
  };
  test("is no bug of ours: a record's reference", () => standAt("list", ["objects", "0", "project"]));
  test.for<[string, What, (string | number)[]]>([
    ["a count", "list", ["meta", "total_count"]],
    ["a link", "list", ["meta", "next"]],
    ["a record", "list", ["objects", "0"]],
    ["a record's id", "list", ["objects", "0", "id"]],
    ["a schema's type", "schema", ["fields", "state", "type"]],
  ])("is no bug of ours: %s", { tags: ["long"] }, ([, what, steps]) => standAt(what, steps));

  const standAnywhere = async (numRuns: number) => {
    const blows: fc.Arbitrary<Blow> = fc.record({
      what: fc.constantFrom<What[]>("root", "schema", "list", "list", "list", "detail"),
      resource: fc.constantFrom(...RESOURCES),
      which: fc.option(fc.nat(2), { freq: 3 }),
      steps: fc.array(fc.nat(40), { maxLength: 5 }),
      json: fc.oneof(
        { weight: 2, arbitrary: hostileJson.map((value) => JSON.stringify(value)) },
        { weight: 1, arbitrary: fc.constantFrom(...NASTY) },
      ),
    });
    await fc.assert(
      fc.asyncProperty(blows, fc.constantFrom(...KINDS), async (one, kind) => {
        expectHonest(one, await runUnder(one, kind));
      }),
      { numRuns, endOnFailure: true },
    );
  };
  test("is no bug of ours, and costs no other list anything, wherever it stands", { tags: ["long"] }, () =>
    standAnywhere(20),
  );
  test("is none in many places either", { tags: ["long", "exhaustive"] }, () => standAnywhere(RUNS));

  test("is forgotten by the runs after it", { tags: ["long"] }, async () => {
    for (const kind of ["full", "full"] as const) await quick.sync({ kind, allowMassDelete: true });
    const { summary } = await quick.sync({ kind: "full", allowMassDelete: true });
    expect(summary, JSON.stringify(summary.resources)).toMatchObject({ status: "succeeded" });
    for (const resource of RESOURCES) {
      const truth = [...quick.world.truth().records(resource)].map(({ record }) => String(record.id));
      const rows = await quick.sql.unsafe(`select id from mirror.${resource}s where deleted_at is null`);
      expect(rows.map(({ id }) => id).sort(), resource).toEqual(truth.sort());
    }
  });
});
