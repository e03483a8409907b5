import { describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { silentLog } from "../../../src/base/log.ts";
import { findUndecided } from "../../../src/mirror/lists/missing-records.ts";
import { type ConfirmOptions, confirmDeletions } from "../../../src/mirror/run/confirm-deletions.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild, wireUser } from "../../support/wire-records.ts";

const toUser = (id: string) => wireUser(id);
const toBuild = (id: string) => wireBuild(id);
const MET = "/api/v1/user/met/";
const RUN_START = new Date(Date.now() - 60_000);

/** Users (and builds) in the mirror that a walk of run 1 missed, and of many users one that it met. */
async function setUpMissing(users: number, builds = 0): Promise<Loading> {
  const loading = await setUpLoading();
  const ids = (count: number) => Array.from({ length: count }, (_, n) => String(n + 1));
  await loading.load("user", ids(users).map(toUser));
  await loading.load("build", ids(builds).map(toBuild));
  await loading.sql`
    insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
    values ('full', 'running', now(), now(), 1, 'here')`;
  await loading.sql`
    insert into sync.walks (run_id, resource, started_at) values (1, 'user', now()), (1, 'build', now())`;
  await loading.sql`
    insert into sync.missing_records (resource, record_id, run_id, noticed_at)
    select 'user', id, 1, now() from mirror.users union all select 'build', id, 1, now() from mirror.builds`;
  if (users > 20) await loading.load("user", [wireUser("met")]);
  return loading;
}

async function confirm(
  { sql, loader }: Loading,
  script: Script,
  {
    signal = new AbortController().signal,
    met = { body: wireUser("met") },
    ...options
  }: Partial<ConfirmOptions> & { signal?: AbortSignal; met?: ScriptedReply } = {},
) {
  const scripted: Script = (request, url) => {
    if (url.pathname === MET) return met;
    return typeof script === "function" ? script(request, url) : (script[0] ?? {});
  };
  await using server = await startScriptedServer(scripted);
  await using client = createTestClient(server.url, { retries: 0, clock: systemClock });
  const deleted: Record<string, number> = {};
  const parts = { sql, client, loader, clock: systemClock, log: silentLog, patience: withStoreErrors };
  const run = { ...parts, signal, runId: 1, startedAt: RUN_START };
  const { deletions: left, waiting } = await confirmDeletions(run, {
    resources: ["user", "build"],
    onDeleted(resource, count) {
      deleted[resource] = (deleted[resource] ?? 0) + count;
    },
    replicaLagMs: 0,
    ...options,
  });
  const asked = server.requests.map(({ path }) => path.split("?")[0]).filter((path) => path !== MET);
  return { left, ...(waiting > 0 && { waiting }), deleted, asked };
}

async function stateOf({ sql }: Loading) {
  const [row] = await sql`
    select deleted_at is not null as deleted, (select count(*) from mirror.changes where kind = 'deleted') as changes,
      (select count(*) from sync.missing_records) as missing,
      (select count(*) from sync.missing_records where asked_at is not null) as asked,
      (select count(*) from sync.missing_records where found_at is not null) as found
    from mirror.users where id = '1'`;
  return row;
}

const GONE: ScriptedReply = { status: 404, body: "", headers: { "content-type": "text/html" } };

describe("a missing record", () => {
  test.each([404, 410])("whose detail answers %i is deleted and counted in its walk", async (status) => {
    await using loading = await setUpMissing(1);
    const from = new Date().toISOString();
    const result = await confirm(loading, [{ status, body: "" }]);
    expect(result).toEqual({ left: 0, deleted: { user: 1 }, asked: ["/api/v1/user/1/"] });
    expect(await stateOf(loading)).toEqual({ deleted: true, changes: 1, missing: 0, asked: 0, found: 0 });
    const walks = await loading.sql`select deleted from sync.walks order by resource`;
    expect(walks).toEqual([{ deleted: 0 }, { deleted: 1 }]);
    const [row] = await loading.sql`
      select deleted_at = changed_at and deleted_at between ${from}::timestamptz and now() + interval '1 minute' as timely
      from mirror.users`;
    expect(row).toEqual({ timely: true });
    expect(await confirm(loading, [GONE])).toEqual({ left: 0, deleted: {}, asked: [] });
  });

  test("whose detail comes is hidden by its list: it is loaded, and noted as found", async () => {
    await using loading = await setUpMissing(1);
    const result = await confirm(loading, [{ body: wireUser("1", { first_name: "Grace" }) }]);
    expect(result).toMatchObject({ left: 0, deleted: {} });
    expect(await stateOf(loading)).toEqual({ deleted: false, changes: 0, missing: 1, asked: 1, found: 1 });
    expect(await loading.sql`select first_name from mirror.users`).toEqual([{ first_name: "Grace" }]);
  });

  test.each<[string, ScriptedReply]>([
    ["another record", { body: wireUser("2") }],
    ["a list", { body: { meta: { total_count: 0 }, objects: [] } }],
    ["an error page with status 200", { body: "<html>Not found</html>" }],
    ["a refusal", { status: 403, body: "" }],
    ["400", { status: 400, body: "" }],
    ["500", { status: 500, body: "" }],
    ["502", { status: 502, body: "" }],
    ["504", { status: 504, body: "" }],
    ["nothing", { instead: "hang up" }],
    ["404 out of a cache, from before the run", { status: 404, body: "", headers: { age: "3600" } }],
  ])("whose detail answers with %s lives, and waits for the next run", async (_, reply) => {
    await using loading = await setUpMissing(1);
    expect(await confirm(loading, [reply])).toMatchObject({ left: 1, deleted: {} });
    expect(await stateOf(loading)).toEqual({ deleted: false, changes: 0, missing: 1, asked: 1, found: 0 });
    expect(await loading.sql`select id from mirror.users`).toHaveLength(1);
  });

  test.each<[string, ScriptedReply]>([
    ["another record", { body: wireUser("2") }],
    ["502", { status: 502, body: "" }],
  ])("whose detail answers with %s in three runs costs no verdict any more, and is asked for last", async (what, reply) => {
    await using loading = await setUpMissing(1);
    const answered: Script = (_, { pathname }) => (pathname === "/api/v1/" ? {} : reply);
    // The root does not answer either, so nobody has answered: a host that hangs up, and a proxy in front of one that is down.
    const silences: Script[] = [() => ({ instead: "hang up" }), () => ({ status: 502, body: "" })];
    const left: number[] = [];
    for (const script of [answered, answered, ...silences, answered])
      left.push((await confirm(loading, script)).left);
    expect(left).toEqual([1, 1, 1, 1, 0]);
    const first = [{ resource: "user", id: "1" }];
    expect(await findUndecided(loading.sql, 20)).toMatchObject({ count: 1, first });
    await loading.load("user", [wireUser("2"), wireUser("3")]);
    await loading.sql`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at)
      select 'user', id, 1, now() from mirror.users where id <> '1'`;
    const { asked } = await confirm(loading, answered, { maxDetails: 2 });
    // Whether the service is up is asked where a proxy may have answered for it.
    const root = what === "502" ? ["/api/v1/"] : [];
    expect(asked).toEqual(["/api/v1/user/2/", "/api/v1/user/3/", ...root]);
    expect(await confirm(loading, [GONE])).toMatchObject({ left: 0, deleted: { user: 3 } });
    expect(await findUndecided(loading.sql, 20)).toEqual({ count: 0, first: [] });
  });

  test("whose detail never answers, though the service does, costs no verdict any more after three runs", async () => {
    await using loading = await setUpMissing(1);
    const mute: Script = ({ path }) =>
      path.startsWith("/api/v1/user/1/") ? { instead: "hang up" } : { body: {} };
    for (const left of [1, 1, 0]) expect(await confirm(loading, mute)).toMatchObject({ left });
  });

  test("of a list that this run did not see well is not asked for", async () => {
    await using loading = await setUpMissing(1, 1);
    const { asked } = await confirm(loading, [GONE], { resources: ["build"] });
    expect(asked).toEqual(["/api/v1/build/1/"]);
    expect(await stateOf(loading)).toMatchObject({ deleted: false, missing: 1 });
  });
});

describe("a missing record that was sighted within the lag of a replica", () => {
  const LAG = { replicaLagMs: 600_000 };
  const sightedAgo = ({ sql }: Loading, span: string, runId = 0) => sql`
    update mirror.users set changed_at = now() - ${span}::interval, changed_run_id = ${runId}`;

  test("waits, costs no verdict, and is deleted by a later run", async () => {
    await using loading = await setUpMissing(1);
    await sightedAgo(loading, "9 minutes");
    expect(await confirm(loading, [GONE], LAG)).toMatchObject({ left: 0, waiting: 1, deleted: {} });
    expect(await stateOf(loading)).toMatchObject({ deleted: false, missing: 1, asked: 1 });
    await sightedAgo(loading, "11 minutes");
    expect(await confirm(loading, [GONE], LAG)).toMatchObject({ left: 0, deleted: { user: 1 } });
  });

  test("by a clock that stood ten years ahead waits from when it was first missed", async () => {
    await using loading = await setUpMissing(1);
    await sightedAgo(loading, "-10 years");
    expect(await confirm(loading, [GONE], LAG)).toMatchObject({ waiting: 1, deleted: {} });
    await loading.sql`update sync.missing_records set noticed_at = now() - interval '11 minutes'`;
    expect(await confirm(loading, [GONE], LAG)).toMatchObject({ deleted: { user: 1 } });
  });

  test("by this run, after the reply was asked for, waits too", async () => {
    await using loading = await setUpMissing(1);
    await sightedAgo(loading, "-1 minute", 1);
    await loading.sql`update sync.missing_records set noticed_at = now() - interval '11 minutes'`;
    expect(await confirm(loading, [GONE], LAG)).toMatchObject({ waiting: 1, deleted: {} });
  });
});

describe("missing records", () => {
  test("are asked for by turns of their lists up to the bound, the others in the next run", async () => {
    await using loading = await setUpMissing(100, 3);
    const first = await confirm(loading, [GONE], { maxDetails: 60 });
    expect(first).toMatchObject({ left: 43, deleted: { user: 57, build: 3 } });
    const second = await confirm(loading, [GONE], { maxDetails: 60 });
    expect(second).toMatchObject({ left: 0, deleted: { user: 43 } });
    expect(await stateOf(loading)).toMatchObject({ changes: 103, missing: 0 });
    expect(new Set([...first.asked, ...second.asked]).size).toBe(103);
    const walks = await loading.sql`select deleted from sync.walks order by resource`;
    expect(walks).toEqual([{ deleted: 3 }, { deleted: 100 }]);
  });

  test("that always answer 502 keep none behind them waiting for ever", async () => {
    await using loading = await setUpMissing(4);
    const refused: Script = (_, { pathname }) =>
      /\/[12]\/$/.test(pathname) ? { status: 502, body: "" } : GONE;
    await confirm(loading, refused, { maxDetails: 2 });
    const second = await confirm(loading, refused, { maxDetails: 2 });
    expect(second).toMatchObject({ left: 2, deleted: { user: 2 } });
  });

  test("that were asked for by a clock which stood ten years ahead do not wait behind all others", async () => {
    await using loading = await setUpMissing(5);
    await loading.sql`update sync.missing_records set asked_at = now()`;
    await loading.sql`update sync.missing_records set asked_at = now() + interval '10 years' where record_id = '5'`;
    const { asked } = await confirm(loading, [GONE], { maxDetails: 1 });
    expect(asked).toEqual(["/api/v1/user/5/"]);
  });

  test("that were found hidden once are left over when their details fail", async () => {
    await using loading = await setUpMissing(2);
    const hidden: Script = (_, { pathname }) => ({ body: wireUser(pathname.split("/")[4] ?? "") });
    expect(await confirm(loading, hidden)).toMatchObject({ left: 0 });
    const failing: Script = (request, url) =>
      url.pathname === "/api/v1/user/1/" ? { status: 504, body: "" } : hidden(request, url);
    expect(await confirm(loading, failing)).toMatchObject({ left: 1 });
    expect(await confirm(loading, hidden)).toMatchObject({ left: 0 });
  });

  test("are confirmed in the same run though fifty of them always answer 502", {
    tags: ["long"],
  }, async () => {
    await using loading = await setUpMissing(140);
    const poison: Script = (_, { pathname }) => {
      if (pathname === "/api/v1/") return {};
      return Number(pathname.split("/")[4]) <= 50 ? { status: 502, body: "" } : GONE;
    };
    const { left, deleted } = await confirm(loading, poison);
    expect([left, deleted]).toEqual([50, { user: 90 }]);
  });

  test("are left alone once the host is lost, and what was answered before is settled", async () => {
    await using loading = await setUpMissing(120);
    const { left, deleted, asked } = await confirm(loading, (_, { pathname }) =>
      pathname === "/api/v1/user/1/" ? GONE : { instead: "hang up" },
    );
    expect([left, deleted]).toEqual([119, { user: 1 }]);
    expect(asked.length).toBeLessThanOrEqual(50);
    expect(await stateOf(loading)).toMatchObject({ deleted: true, changes: 1, missing: 119 });
  });

  test("are left alone when asked to stop", async () => {
    await using loading = await setUpMissing(1);
    const reason = new Error("stop");
    await expect(confirm(loading, [GONE], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(await stateOf(loading)).toMatchObject({ deleted: false, missing: 1 });
  });

  test("of which more than 20 are gone are asked for only while the detail of what the list shows is there", async () => {
    await using loading = await setUpMissing(21);
    expect(await confirm(loading, [GONE], { met: GONE })).toEqual({ left: 21, deleted: {}, asked: [] });
    expect(await confirm(loading, [GONE])).toMatchObject({ left: 0, deleted: { user: 21 } });
  });

  test("that a walk met while they were asked for are not deleted", async () => {
    await using loading = await setUpMissing(2);
    const { deleted } = await confirm(loading, async (_, { pathname }) => {
      if (pathname === "/api/v1/user/1/")
        await loading.sql`delete from sync.missing_records where record_id = '1'`;
      return GONE;
    });
    expect(deleted).toEqual({ user: 1 });
    expect(await stateOf(loading)).toMatchObject({ deleted: false, changes: 1 });
  });
});
