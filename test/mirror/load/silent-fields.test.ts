import { afterAll, beforeAll, describe, expect } from "vitest";
import { fieldOf, fieldsOf, RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { mirrorRows } from "../../support/mirror-rows.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const project = wireProject("1", {
  users: ["/api/v1/user/1/", "/api/v1/user/9/"],
  analytics_code: "UA-1",
  badge: { url: "/b.svg", count: 12345678901234567890n.toString() },
});
/** A record of each resource, with a value in each field. */
const WHOLE: Record<Resource, Record<string, unknown>> = {
  user: wireUser("1", { last_name: "Lovelace", shoe_size: 41 }),
  project,
  version: wireVersion("11", project),
  file: wireFile("21", project),
  build: wireBuild("31", {
    version: "/api/v1/version/99/",
    output: "made",
    error: "fatal: no such file",
    setup: "ready",
    setup_error: "slow",
    state: "building",
    date: "2024-05-15T11:00:00Z",
  }),
};

async function loadAll(loading: Loading): Promise<void> {
  for (const resource of RESOURCES) await loading.load(resource, [WHOLE[resource]]);
}

/** All rows, but for the hash of the newest reply, which is of what that reply had. */
async function rowsOf({ url }: Loading) {
  const rows = Object.entries(await mirrorRows(url));
  return rows.map(([table, texts]) => [
    table,
    texts.map((text) => text.replace(/"record_hash": "[^"]*"/, "")),
  ]);
}

const without = (record: Record<string, unknown>, names: readonly string[]) =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !names.includes(name)));

describe("a field that a reply lacks", () => {
  let shared: Loading;
  beforeAll(async () => {
    shared = await setUpLoading();
    await loadAll(shared);
  });
  afterAll(() => shared[Symbol.asyncDispose]());

  const NAME = "keeps its value, whichever field of a %s it is and however the reply came";
  test.for(["build"] as const)(NAME, keepsItsValue);
  test.for(RESOURCES.filter((resource) => resource !== "build"))(NAME, { tags: ["long"] }, keepsItsValue);

  async function keepsItsValue(resource: Resource): Promise<void> {
    const before = await rowsOf(shared);
    const record = WHOLE[resource];
    const id = String(record.id);
    const [served] = await readRecords(shared.sql, resource, [id]);
    const names = Object.keys(record).filter((name) => name !== "id");
    const parts = [...names.map((name) => [name]), names];
    for (const [place, lacking] of parts.entries()) {
      shared.nextRun();
      const isOwn = lacking.some((name) => fieldOf(resource, name) === undefined);
      const source = isOwn || place % 2 === 0 ? "detail" : "list";
      const counts = await shared.load(resource, [without(record, lacking)], { source });
      expect([lacking, counts.updated]).toEqual([lacking, 0]);
      expect([lacking, await rowsOf(shared)]).toEqual([lacking, before]);
    }
    expect(await readRecords(shared.sql, resource, [id])).toEqual([served]);
    expect(await shared.sql`select from mirror.changes`).toHaveLength(0);
  }

  test("is added where another reply has it, and stands among the missing no more", async ({ loading }) => {
    await loadAll(loading);
    const lacking = fieldsOf("build")
      .map(([name]) => name)
      .slice(4);
    const summary = without({ ...WHOLE.build, id: "32" }, lacking);
    await loading.load("build", [summary]);
    const extra = async () =>
      (await loading.sql`select extra -> 'missing' as missing from mirror.builds where id = '32'`)[0]
        ?.missing;
    expect(await extra()).toEqual(lacking);
    await loading.load("build", [{ ...summary, error: null, output: "x" }], { source: "detail" });
    expect(await extra()).toEqual(lacking.filter((name) => name !== "error" && name !== "output"));
    expect(await loading.sql`select output, error from mirror.build_logs where build_id = '32'`).toEqual([
      { output: "x", error: null },
    ]);
  });

  test("keeps a log in its archive, though the rest of the record changed", async ({ loading }) => {
    await loadAll(loading);
    await loading.sql.unsafe(`
      insert into mirror.log_files (sha256, folder, path) values ('\\x00', 'f', 'p');
      insert into mirror.archived_logs (build_id, file_id, hash, removed_at) values ('31', 1, '\\x00', now());
      delete from mirror.build_logs where build_id = '31'`);
    const { output: _, ...rest } = WHOLE.build;
    await loading.load("build", [{ ...rest, type: "pdf" }]);
    expect(await loading.sql`select before, after from mirror.changes`).toEqual([
      { before: { type: "html" }, after: { type: "pdf" } },
    ]);
    expect(await loading.sql`select from mirror.archived_logs`).toHaveLength(1);
    expect(await loading.sql`select from mirror.build_logs`).toHaveLength(0);
  });
});

test("a reply without a state is no sighting of a build: no bound moves, and it stays open", async ({
  loading,
}) => {
  await loadAll(loading);
  const open = async () => [...(await loading.sql`select * from sync.open_builds`)];
  const transitions = async () => [...(await loading.sql`select * from mirror.build_transitions`)];
  const before = [await open(), await transitions()];
  expect(before.map((rows) => rows.length)).toEqual([1, 1]);
  for (const state of [{}, { state: 7 }]) {
    await loading.load("build", [{ ...without(WHOLE.build, ["state"]), ...state, type: "pdf" }]);
    expect([await open(), await transitions()]).toEqual(before);
  }
  await loading.load("build", [without({ ...WHOLE.build, id: "33" }, ["state"])]);
  expect(await transitions()).toHaveLength(1);
  await loading.load("build", [{ ...WHOLE.build, id: "33" }]);
  expect(await loading.sql`select rule from mirror.build_transitions where build_id = '33'`).toEqual([
    { rule: "date" },
  ]);
});

test("a field without documentation that only details show stays, and one of a list goes with it", async ({
  loading,
}) => {
  const shown = { commands: ["make"], size: 12345678901234567890n.toString() };
  const listed = wireBuild("1", { state: "finished", era: "new" });
  const values = async () =>
    (await loading.sql`select extra -> 'values' as values from mirror.builds where id = '1'`)[0]?.values;
  await loading.load("build", [listed]);
  await loading.load("build", [{ ...listed, ...shown }], { source: "detail" });
  await loading.load("build", [{ ...listed, type: "pdf" }]);
  expect(await values()).toEqual({ era: "new", ...shown });
  await loading.load("build", [wireBuild("1", { state: "finished" })]);
  expect(await values()).toEqual(shown);
  // First read by its detail.
  await loading.load("build", [{ ...wireBuild("2"), ...shown }], { source: "detail" });
  await loading.load("build", [wireBuild("2")]);
  const [second] = await readRecords(loading.sql, "build", ["2"]);
  expect(second).toEqual({ ...wireBuild("2"), ...shown });
});

test("a null is a value: it empties the field, and is told", async ({ loading }) => {
  await loadAll(loading);
  await loading.load("build", [{ ...WHOLE.build, type: null, version: null }]);
  const [change] = await loading.sql`select after from mirror.changes`;
  expect(change?.after).toEqual({ version_uri: null, type: null });
  expect(await loading.sql`select from mirror.unresolved_references where resource = 'build'`).toHaveLength(
    0,
  );
});

test("users that cannot be read keep those that were", async ({ loading }) => {
  await loadAll(loading);
  const before = await loading.sql`select * from mirror.project_users order by position`;
  expect(before).toHaveLength(2);
  await loading.load("project", [{ ...project, users: { count: 2 } }]);
  expect(await loading.sql`select * from mirror.project_users order by position`).toEqual([...before]);
});
