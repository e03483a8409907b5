import { describe, expect } from "vitest";
import { quarantineHole } from "../../../src/mirror/load/quarantine.ts";
import { retryQuarantine } from "../../../src/mirror/run/retry-quarantine.ts";
import { parseJson } from "../../../src/resources/parse-json.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { otherProcess } from "../../support/leases.ts";
import { type Loading, setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { restoreStored } from "../../support/mirror-rows.ts";
import { withDefaults } from "../../support/sync.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const MONDAY = "2024-05-13T02:00:00.000Z";
const TUESDAY = "2024-05-14T02:00:00.000Z";
const WEDNESDAY = "2024-05-15T02:00:00.000Z";

function retry({ url }: Loading, resource: Resource | null = null, signal = new AbortController().signal) {
  const options = withDefaults(url, new URL("http://service.invalid"), { signal });
  return retryQuarantine({ ...options, resource });
}

const HOLE = {
  resource: "user" as const,
  runId: 1,
  request: "/",
  reason: "500",
  observedAt: MONDAY,
  offset: 7,
};
const NOTHING = { stored: 0, superseded: 0, refused: 0, holes: 0 };

/** A database that refuses records with shoes until `repair` is called, as one with a rule of its user's might. */
async function setUpRefusing(...resources: Resource[]) {
  const loading = await setUpLoading();
  for (const resource of resources) {
    await loading.sql.unsafe(
      `alter table mirror.${resource}s add constraint no_shoes check (extra->'values'->'shoes' is null)`,
    );
  }
  const repair = (resource: Resource) =>
    loading.sql.unsafe(`alter table mirror.${resource}s drop constraint no_shoes`);
  return Object.assign(loading, { repair });
}

describe("a record that is tried again", () => {
  test("stays with its new reason while it is refused, and is stored as of when it was seen once it is not", async () => {
    await using loading = await setUpRefusing("build");
    const { sql } = loading;
    const bad = wireBuild("7", { shoes: [44], state: "building" });
    await loading.load("project", [wireProject("1")], { at: MONDAY });
    await loading.load("build", [bad, wireBuild("8")], { at: TUESDAY });
    await sql`update sync.quarantine set reason = 'of old', run_id = 5`;

    expect(await retry(loading)).toEqual({ ...NOTHING, refused: 1 });
    const reason = expect.stringMatching(/^could not store build 7: .*no_shoes.*\(23514\)$/);
    const expected = [{ reason, resolved_at: null }];
    expect(await sql`select reason, resolved_at from sync.quarantine`).toEqual(expected);
    expect(await sql`select id from mirror.builds`).toEqual([{ id: "8" }]);

    await loading.repair("build");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 1 });
    expect((await restoreStored(sql, "build")).get("7")).toEqual(bad);
    const [row] = await sql`
      select project_id, first_seen_at = ${TUESDAY} and changed_at = ${TUESDAY} as as_seen from mirror.builds where id = '7'`;
    expect(row).toEqual({ project_id: "1", as_seen: true });
    const transitions = await sql`
      select to_state, run_id, not_after = ${TUESDAY} as as_seen from mirror.build_transitions where build_id = '7'`;
    expect(transitions).toEqual([{ to_state: "building", run_id: 5, as_seen: true }]);
    expect(await sql`select 1 from sync.quarantine where resolved_at is null`).toHaveLength(0);
    expect(await retry(loading)).toEqual(NOTHING);
  });

  test("was asked for after its run began, and dated by a clock that was as far off as its run found", async () => {
    await using loading = await setUpRefusing("build");
    const { sql } = loading;
    await sql`
      insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host, clock_ahead_min_ms, clock_ahead_max_ms)
      values ('full', 'succeeded', ${MONDAY}, ${MONDAY}, 1, '', 5000, 6000)`;
    const bad = wireBuild("7", { shoes: [44], date: "2024-05-13T01:00:00" });
    await loading.load("build", [bad], { at: TUESDAY });
    await loading.repair("build");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 1 });
    const stored = await sql`
      select seen_at = ${MONDAY} as seen, not_before = '2024-05-13T00:59:54Z' as dated, anomaly
      from sync.open_builds join mirror.build_transitions using (build_id)`;
    expect(stored).toEqual([{ seen: true, dated: true, anomaly: "clock" }]);
  });

  test("replaces an older row, with the change written down", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { first_name: "old" })], { at: MONDAY });
    await loading.load("user", [wireUser("1", { first_name: "new", shoes: 1 })], { at: TUESDAY });
    await loading.repair("user");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 1 });
    expect(await loading.sql`select first_name from mirror.users`).toEqual([{ first_name: "new" }]);
    const changes = await loading.sql`
      select kind, observed_at = ${TUESDAY} as as_seen, after->>'first_name' as after from mirror.changes`;
    expect(changes).toEqual([{ kind: "updated", as_seen: true, after: "new" }]);
  });

  test("is refused again while it holds a number that JSON does not have", async ({ loading }) => {
    const reply =
      '[{"id":"1","first_name":"Ann","last_name":"NaN \\ud83d","shoes":NaN},{"id":"2","username":"bob"}]';
    await loading.load("user", parseJson(reply) as unknown[]);
    expect(await loading.sql`select id from mirror.users`).toEqual([{ id: "2" }]);
    const kept = async () =>
      loading.sql`select reason, payload from sync.quarantine where resolved_at is null`;
    const payload = expect.stringMatching(/^\{"id":"1",.*"shoes":NaN\}$/);
    const refused = [{ reason: "the record holds NaN, a number that JSON does not have", payload }];
    expect(await kept()).toEqual(refused);
    expect(await retry(loading)).toEqual({ ...NOTHING, refused: 1 });
    expect(await kept()).toEqual(refused);
    await loading.load("user", parseJson(reply) as unknown[]);
    expect(await kept()).toHaveLength(1);
  });

  test.each([
    ["written later", WEDNESDAY],
    ["written by the same reply", TUESDAY],
  ])("never overwrites a row that was %s", async (_when, at) => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { first_name: "old", shoes: 1 })], { at: TUESDAY });
    await loading.load("user", [wireUser("1", { first_name: "new" })], { at });
    await loading.repair("user");
    expect(await retry(loading)).toEqual({ ...NOTHING, superseded: 1 });
    expect(await loading.sql`select first_name from mirror.users`).toEqual([{ first_name: "new" }]);
    expect(await loading.sql`select 1 from sync.quarantine where resolved_at is null`).toHaveLength(0);
  });

  test("does not bring back what was deleted later", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1")], { at: MONDAY });
    await loading.load("user", [wireUser("1", { shoes: 1 })], { at: TUESDAY });
    await loading.sql`update mirror.users set deleted_at = ${WEDNESDAY}, changed_at = ${WEDNESDAY}`;
    await loading.repair("user");
    expect(await retry(loading)).toEqual({ ...NOTHING, superseded: 1 });
    expect(await loading.sql`select deleted_at is null as here from mirror.users`).toEqual([{ here: false }]);
  });

  test("brings its versions in the order in which they were seen", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { shoes: 1 })], { at: MONDAY });
    await loading.load("user", [wireUser("1", { shoes: 2 })], { at: TUESDAY });
    await loading.repair("user");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 2 });
    const stored = await loading.sql`select extra->'values'->'shoes' as shoes from mirror.users`;
    expect(stored).toEqual([{ shoes: 2 }]);
  });

  test("costs the others nothing when it is refused", async () => {
    await using loading = await setUpRefusing("user", "build");
    await loading.load("build", [wireBuild("1", { shoes: 1 })]);
    const [one, two] = ["1", "2"].map((id) => wireUser(id, { shoes: 1 }));
    await loading.load("user", [one, { username: "nobody" }, two]);
    await loading.repair("user");
    expect(await retry(loading, "user")).toEqual({ ...NOTHING, stored: 2, refused: 1 });
    const left = await loading.sql`
      select resource, reason from sync.quarantine where resolved_at is null order by id`;
    expect(left).toEqual([
      { resource: "build", reason: expect.stringContaining("no_shoes") },
      { resource: "user", reason: "the record has no id that can be stored" },
    ]);
  });
});

describe("a project that was refused within a version", () => {
  test("comes back as an embedded one, and the version with it", async () => {
    await using loading = await setUpRefusing("project");
    const project = wireProject("1", { shoes: 1 });
    const version = wireVersion("7", project);
    await loading.load("version", [version, wireVersion("8", null)]);
    await loading.repair("project");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 2 });
    const [stored] = await loading.sql`select source, listed from mirror.projects`;
    expect(stored).toEqual({ source: "embedded", listed: false });
    expect((await restoreStored(loading.sql, "version")).get("7")).toEqual(version);
  });

  test("counts as listed when its list had shown it, and not when only its detail was asked for", async () => {
    await using loading = await setUpRefusing("project");
    await loading.load("project", [wireProject("1", { shoes: 1 })]);
    await loading.load("project", [wireProject("2", { shoes: 1 })]);
    await loading.sql`update sync.quarantine set request = '/api/v1/project/2/' where record_id = '2'`;
    await loading.repair("project");
    await retry(loading);
    expect(await loading.sql`select id, source, listed from mirror.projects order by id`).toEqual([
      { id: "1", source: "list", listed: true },
      { id: "2", source: "detail", listed: false },
    ]);
  });

  test("does not replace a project that is here with the copy that the version held", async () => {
    await using loading = await setUpRefusing("version");
    const version = wireVersion("7", wireProject("1", { users: [] }), { shoes: 1 });
    await loading.load("version", [version], { at: MONDAY });
    // Another administrator does not move the project's modified_date.
    const users = ["/api/v1/user/9/"];
    await loading.load("file", [wireFile("1", wireProject("1", { users }))], { at: TUESDAY });
    await loading.repair("version");
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 1 });
    expect((await restoreStored(loading.sql, "project")).get("1")).toMatchObject({ users });
  });
});

describe("a retry", () => {
  test("resolves references to what it stored", async () => {
    await using loading = await setUpRefusing("project");
    await loading.load("project", [wireProject("1", { shoes: 1 })]);
    await loading.load("build", [wireBuild("9")]);
    await loading.repair("project");
    await retry(loading);
    expect(await loading.sql`select project_id from mirror.builds`).toEqual([{ project_id: "1" }]);
  });

  test("takes no id that was made storable for its quarantine", async ({ loading }) => {
    const ids = ["a\u0000b", "\ud800", Number.POSITIVE_INFINITY];
    const users = ids.map((id) => ({ ...wireUser("1"), id }));
    await loading.load("user", users);
    expect(await retry(loading)).toEqual({ ...NOTHING, refused: 3 });
    expect(await loading.sql`select 1 from mirror.users`).toHaveLength(0);
  });

  test("says so of a payload that was cut, and reads one kept as text whole", async ({ loading }) => {
    const whole = JSON.stringify(wireUser("1"));
    for (const text of [whole, whole.slice(0, -9)]) {
      await loading.sql`
        insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at)
        values (1, 'user', '1', 'nested too deep', ${JSON.stringify(text)}::text::jsonb, '/', ${TUESDAY})`;
    }
    expect(await retry(loading)).toEqual({ ...NOTHING, stored: 1, refused: 1 });
    const left = await loading.sql`select reason from sync.quarantine where resolved_at is null`;
    expect(left).toEqual([{ reason: expect.stringContaining("cut") }]);
  });

  test("leaves holes in lists to the next sync and counts them", async ({ loading }) => {
    await quarantineHole(loading.sql, HOLE);
    expect(await retry(loading)).toEqual({ ...NOTHING, holes: 1 });
    expect(await retry(loading, "build")).toEqual(NOTHING);
  });

  test("does not begin while a run lives, nor leaves its lock behind", { tags: ["long"] }, async ({
    loading,
  }) => {
    await using other = otherProcess(loading.url);
    const lock = await other.takeRun();
    await expect(retry(loading)).rejects.toMatchObject({ name: "LockedError", exitCode: 10 });
    await lock.release();
    expect(await retry(loading)).toEqual(NOTHING);
    await (await other.takeRun()).release();
  });

  test("is a run in the ledger, partial while something stays", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { shoes: 1 })]);
    await quarantineHole(loading.sql, HOLE);
    await retry(loading);
    await loading.repair("user");
    await retry(loading);
    await loading.sql`delete from sync.quarantine where resolved_at is null`;
    await retry(loading);
    const runs = await loading.sql`select kind || ' ' || status as run from sync.runs order by id`;
    expect(runs.map(({ run }) => run)).toEqual([
      "quarantine partial",
      "quarantine partial",
      "quarantine succeeded",
    ]);
  });

  test("stores nothing more once another run has begun, and says so", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { shoes: 1 })]);
    await loading.repair("user");
    // As by a run that took over: the lease has another term while the retry stores.
    await loading.sql.unsafe(`
      create function take_over() returns trigger language plpgsql as $$
        begin update sync.leases set term = term + 1; return new; end $$;
      create trigger take_over before insert on mirror.users for each row execute function take_over()`);
    await expect(retry(loading)).rejects.toMatchObject({ name: "LockedError", exitCode: 10 });
    expect(await loading.sql`select id from mirror.users`).toEqual([]);
  });

  test("stops when it is asked to", async ({ loading }) => {
    await loading.load("user", [{ username: "nobody" }]);
    await expect(retry(loading, null, AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  });
});
