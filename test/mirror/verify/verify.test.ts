import { afterEach, describe, expect, it } from "vitest";
import { runSync, type SyncOptions } from "../../../src/mirror/run/run.ts";
import { repairWrong } from "../../../src/mirror/verify/repair.ts";
import { type VerifyOptions, verifyMirror, withCheck } from "../../../src/mirror/verify/verify.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { findRecord } from "../../../src/serve/catalog/mirror-catalog.ts";
import type { WorldOptions } from "../../../src/simulate/settings.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { findSuspects } from "../../../src/store/ledger/checks.ts";
import { fingerprintTables } from "../../support/mirror-rows.ts";
import { editReplies, type Intercept, type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { type Over, withDefaults } from "../../support/sync.ts";

const HOUR_MS = 3_600_000;
const FEW: WorldOptions = { users: 4, projects: 4, versions: 6, files: 4, builds: 12 };

let open: QuickWorld | null = null;
afterEach(async () => {
  await open?.[Symbol.asyncDispose]();
  open = null;
});

type Settings = Over<SyncOptions>["settings"];

/** A mirror that has just been synced, and checks of it by the world's clock. Each is an hour after what was before. */
async function start(world: WorldOptions = FEW, intercept?: Intercept) {
  open = await startQuickWorld({ rates: QUIET, hiddenShare: 0, stuckShare: 0, ...world }, intercept);
  const { world: life, databaseUrl, baseUrl, sql, sync } = open;
  const clock = { now: () => life.now(), sleep: async (ms: number) => life.advance(ms) };
  const optionsOf = (settings: Settings = {}) =>
    withDefaults<SyncOptions>(databaseUrl, baseUrl, {
      clock,
      settings: { sourceTimezone: life.settings.timeZone, retries: 0, pageSize: 20, ...settings },
    });
  const verify = (over: Partial<VerifyOptions> = {}, settings?: Settings) => {
    life.advance(HOUR_MS);
    const all = { resources: RESOURCES, sample: 1000, waitMs: 0, findServed: findRecord };
    return verifyMirror({ ...optionsOf(settings), ...all, ...over });
  };
  /** The verdict of each record of a list that is not equal. */
  const verdicts = async (resource: Resource, over?: Partial<VerifyOptions>) => {
    const { found } = await verify({ resources: [resource], ...over });
    return Object.fromEntries(found.flatMap(({ id, verdict }) => (id === "" ? [] : [[id, verdict]])));
  };
  const night = async () => {
    life.advance(HOUR_MS);
    return sync({ kind: "full" });
  };
  const idOf = async (resource: Resource, place: number) =>
    String(
      (await sql`select id from mirror.${sql(`${resource}s`)} order by id offset ${place} limit 1`)[0]?.id,
    );
  /** As a night that reads the list and stores nothing. */
  const readAgain = async (resource: Resource) => {
    life.advance(HOUR_MS);
    const at = life.now().toISOString();
    await sql`
      with run as (
        insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
        values ('full', 'succeeded', ${at}, ${at}, ${at}, 1, 'test') returning id
      )
      insert into sync.walks (run_id, resource, walk, started_at, finished_at) select id, ${resource}, 'whole', ${at}, ${at} from run`;
  };
  expect((await night()).summary.status).toBe("succeeded");
  return { ...open, sql, optionsOf, verify, verdicts, night, idOf, readAgain };
}

describe("a check by sample", () => {
  it("finds a right mirror right, with as many requests as records, and writes nothing but its result", async () => {
    const { sql, verify } = await start();
    const before = await fingerprintTables(sql);
    const { all, found, requests } = await verify({ sample: 10 });
    expect(all.checked).toBeGreaterThan(5);
    expect(all).toEqual({
      records: 30,
      checked: all.checked,
      equal: all.checked,
      changed: 0,
      unclear: 0,
      denied: 0,
      wrong: 0,
    });
    expect({ found, requests }).toEqual({ found: [], requests: 10 });
    const { "sync.checks": of, ...after } = await fingerprintTables(sql);
    expect(of?.rows).toBe(1);
    expect({ ...after, "sync.checks": before["sync.checks"] }).toEqual(before);
  });

  it("draws each record of each list, and counts one that it draws by its id and by its place once", {
    tags: ["long"],
  }, async () => {
    const { verify } = await start();
    const { lists } = await verify();
    const checked = Object.entries(lists).map(([resource, list]) => [resource, list.checked]);
    expect(Object.fromEntries(checked)).toEqual({ user: 4, project: 4, version: 6, file: 4, build: 12 });
  });

  const WRONG = [
    ["build", "type", "update mirror.builds set type = 'pdf' where id = '$'"],
    ["build", "success", "update mirror.builds set success = not success where id = '$'"],
    ["build", "date", "update mirror.builds set date = date + interval '1 microsecond' where id = '$'"],
    ["build", "version", "update mirror.builds set version_uri = '/api/v1/version/99/' where id = '$'"],
    ["build", "output", "update mirror.build_logs set output = output || ' ' where build_id = '$'"],
    ["project", "users", "delete from mirror.project_users where project_id = '$'"],
    ["version", "identifier", "update mirror.versions set identifier = null where id = '$'"],
    ["user", "last_name", "update mirror.users set last_name = last_name || '!' where id = '$'"],
  ] as const;
  it("finds each wrong value once, with that of the service", { tags: ["long"] }, async () => {
    const { sql, verify, idOf } = await start();
    const expected: unknown[] = [];
    for (const [place, [resource, field, statement]] of WRONG.entries()) {
      const id = await idOf(resource, resource === "build" ? place : 2);
      await sql.unsafe(statement.replaceAll("$", id));
      expected.push([resource, id, "wrong", [field]]);
    }
    const { found, lists } = await verify();
    const told = found.map(({ resource, id, verdict, differences }) => [
      ...[resource, id, verdict],
      differences.map(({ field }) => field),
    ]);
    expect(told.toSorted()).toEqual(expected.toSorted());
    expect(lists).toMatchObject({ build: { wrong: 5 }, project: { wrong: 1 }, user: { wrong: 1 } });
    for (const { differences } of found) expect(differences[0]?.service).not.toBe(differences[0]?.mirror);
  });

  it("takes a change since the record was read for no fault, and finds it equal after the next night", {
    tags: ["long"],
  }, async () => {
    const { world, verdicts, night, idOf } = await start({
      ...FEW,
      rates: { ...QUIET, versionChanges: 400 },
    });
    const gone = await idOf("user", 2);
    expect(new Set(Object.values(await verdicts("version")))).toEqual(new Set(["changed"]));
    expect(world.deleteRecord("user", gone)).toBe(true);
    expect(await verdicts("user")).toEqual({ [gone]: "changed" });
    expect((await night()).summary.resources.user?.deleted).toBe(1);
    expect(await verdicts("user")).toEqual({});
  });

  it("looks again after a time at what may have changed, so that what a run brings meanwhile is equal", {
    tags: ["long"],
  }, async () => {
    const { world, verify, sync } = await start();
    world.triggerBuilds(2);
    const findServed: VerifyOptions["findServed"] = (tx, resource, id) => findRecord(tx, resource, id);
    const clock = { now: () => world.now(), sleep: async () => void (await sync({ kind: "incremental" })) };
    const { lists } = await verify({ resources: ["build"], clock, waitMs: HOUR_MS, findServed });
    expect(lists.build).toMatchObject({ wrong: 0, changed: 0 });
  });

  it("finds after the list was read again what no hash proves: missing here, never read right, gone there", {
    tags: ["long"],
  }, async () => {
    const { sql, verdicts, verify, idOf, readAgain } = await start();
    const ids = [await idOf("file", 1), await idOf("file", 2), "99"] as const;
    const allAre = (verdict: string) => Object.fromEntries(ids.map((id) => [id, verdict]));
    const row = await sql`select * from mirror.files where id = ${ids[0]}`;
    await sql`delete from mirror.files where id = ${ids[0]}`;
    await sql`update mirror.files set name = 'wrong', record_hash = '' where id = ${ids[1]}`;
    await sql`
      insert into mirror.files (id, first_seen_at, changed_at, record_hash)
      select '99', first_seen_at, changed_at, '' from mirror.files where id = ${ids[1]}`;
    expect(await verdicts("file")).toEqual(allAre("changed"));
    // Without a night in between nothing is decided.
    expect(await verdicts("file")).toEqual(allAre("changed"));
    await readAgain("file");
    expect(await verdicts("file", { sample: 1 })).toEqual(allAre("wrong"));
    // They are looked at until they are right, whatever is drawn, and a check of another list leaves them.
    await sql`insert into mirror.files ${sql(row)}`;
    const { all, suspects } = await verify({ sample: 8, resources: ["user", "file"] });
    expect(all).toMatchObject({ wrong: 2 });
    expect(suspects.map(({ id, fields }) => [id, fields]).toSorted()).toEqual(
      [
        ["99", []],
        [ids[1], ["name"]],
      ].toSorted(),
    );
    await verify({ sample: 1, resources: ["user"] });
    expect(await findSuspects(sql)).toHaveLength(2);
  });

  it("blames nobody for what the mirror knows: deletions without proof, logs that were removed, the quarantine", {
    tags: ["long"],
  }, async () => {
    const { sql, verdicts, world, idOf, readAgain } = await start();
    const [user, file, build] = [await idOf("user", 1), await idOf("file", 1), await idOf("build", 1)];
    world.deleteRecord("user", user);
    await sql`
      insert into sync.missing_records (resource, record_id, run_id, noticed_at) values ('user', ${user}, 1, now())`;
    await sql`
      with log as (insert into mirror.log_files (sha256, folder, path) values ('', 'a', 'b') returning id)
      insert into mirror.archived_logs (build_id, file_id, hash, removed_at) select ${build}, id, '', now() from log`;
    await sql`update mirror.build_logs set output = null, error = null, setup = null, setup_error = null where build_id = ${build}`;
    await sql`delete from mirror.files where id = ${file}`;
    await sql`
      insert into sync.quarantine (run_id, resource, record_id, reason, created_at) values (1, 'file', ${file}, 'refused', now())`;
    expect(await verdicts("user")).toEqual({ [user]: "unclear" });
    await readAgain("user");
    expect(await verdicts("user")).toEqual({ [user]: "unclear" });
    expect(await verdicts("build")).toEqual({});
    expect(await verdicts("file")).toEqual({ [file]: "unclear" });
  });

  it("says that the service contradicts itself where its list shows what its detail denies", {
    tags: ["long"],
  }, async () => {
    let ghost = "";
    const { verdicts, verify, night, idOf, sql } = await start(FEW, async (request, next) =>
      new URL(request.url).pathname === `/api/v1/user/${ghost}/` ? new Response("", { status: 404 }) : next(),
    );
    ghost = await idOf("user", 1);
    expect(await verdicts("user")).toEqual({ [ghost]: "changed" });
    // The lag of a replica goes by.
    await night();
    await night();
    expect(await verdicts("user")).toEqual({ [ghost]: "denied" });
    const { all, found } = await verify();
    expect(all).toMatchObject({ wrong: 0, denied: 1 });
    expect(found[0]?.why).toBe("the service's list shows it, and its detail says that there is none");
    expect((await findSuspects(sql)).map(({ id, verdict }) => [id, verdict])).toEqual([[ghost, "denied"]]);
    ghost = "";
    expect(await verdicts("user")).toEqual({});
  });

  it("says what it could not compare, and throws where the host is lost, with nothing noted", async () => {
    let status = 200;
    const { sql, verify } = await start(FEW, async (request, next) => {
      const isUser = new URL(request.url).pathname.includes("/user/");
      return status === 200 || (status === 500 && !isUser) ? next() : new Response("", { status });
    });
    status = 500;
    const { lists } = await verify({ resources: ["user"] });
    expect(lists.user).toMatchObject({ checked: 0, unclear: 8 });
    const before = (await sql`select from sync.checks`).length;
    status = 503;
    await expect(verify()).rejects.toThrow("503");
    const signal = AbortSignal.abort(new Error("stopped"));
    await expect(verify({ signal })).rejects.toThrow("stopped");
    expect(await sql`select from sync.checks`).toHaveLength(before);
  });

  it("is not misled by how a service writes its records", { tags: ["long"] }, async () => {
    const odd = ({ id, project, date, ...rest }: Record<string, unknown>) => ({
      ...rest,
      id: Number(id),
      __proto__: "no",
      weights: [1e300, 0.1, { b: 1, a: [null, "\u0000"] }],
      empty: {},
      ...(date !== undefined && { date: `${date}Z` }),
      // Embedded copies have other fields.
      ...(project !== undefined && {
        project: typeof project === "string" ? project : { ...(project as object), theme: 1, more: "x" },
      }),
    });
    const { verify } = await start(
      FEW,
      editReplies((text, url) => {
        const reply = JSON.parse(text);
        if (/\/(schema|v1)\/$/.test(url.pathname)) return null;
        // Details have no `empty`, and a field more. Their numbers and lists are written in another way.
        const { empty: _, users, ...record } = odd(reply) as Record<string, unknown>;
        const detail = { more: 1, ...record, ...(Array.isArray(users) && { users: users.toReversed() }) };
        const body = reply.objects ? { ...reply, objects: reply.objects.map(odd) } : detail;
        return JSON.stringify(body)
          .replaceAll(":1e+300", reply.objects ? ":1E300" : ":10e299")
          .replace(/0\.1,/g, "0.10,");
      }),
    );
    const { all, found } = await verify();
    expect(found).toEqual([]);
    expect(all).toMatchObject({ checked: 30, equal: 30 });
  });
});

describe("a repair", () => {
  it("brings back what is wrong here, and says what it did", async () => {
    const { sql, verify, idOf, readAgain, optionsOf } = await start();
    const [build, log] = [await idOf("build", 1), await idOf("build", 2)];
    const [lost, old] = [await idOf("file", 1), await idOf("file", 2)];
    await sql`update mirror.builds set type = 'pdf' where id = ${build}`;
    await sql`delete from mirror.build_logs where build_id = ${log}`;
    await sql`delete from mirror.files where id = ${lost}`;
    await sql`
      insert into mirror.files (id, first_seen_at, changed_at, record_hash, first_seen_run_id, changed_run_id)
      select '99', first_seen_at, changed_at, '', first_seen_run_id, changed_run_id from mirror.files where id = ${old}`;
    await verify();
    await readAgain("file");
    await readAgain("build");
    const { found } = await verify();
    expect(found.map(({ verdict }) => verdict)).toEqual(["wrong", "wrong", "wrong", "wrong"]);
    const repairs = await repairWrong(optionsOf({ replicaLagMs: 0 }), found);
    const outcomes = Object.fromEntries(
      repairs.map(({ resource, id, outcome }) => [`${resource} ${id}`, outcome]),
    );
    expect(outcomes).toEqual({
      [`build ${build}`]: "stored",
      [`build ${log}`]: "stored",
      [`file ${lost}`]: "stored",
      "file 99": "deleted",
    });
    expect((await verify()).all).toMatchObject({ wrong: 0, changed: 0 });
    const [run] = await sql`select kind, status from sync.runs order by id desc limit 1`;
    expect(run).toEqual({ kind: "repair", status: "succeeded" });
    // A mirror that is right is left alone.
    expect(await repairWrong(optionsOf(), (await verify()).found)).toEqual([]);
  });
});

describe("a sync with a check", () => {
  it("compares some records after a good night, and none where it is told so or the night is not good", async () => {
    const { sql, optionsOf } = await start();
    const checks = async () =>
      (
        await sql`select sum((list ->> 'checked')::int)::int as checked from sync.checks, jsonb_each(lists) as of (name, list)`
      )[0]?.checked;
    const sync = withCheck(runSync, findRecord);
    await sync(optionsOf({ verifySample: 0 }));
    expect(await checks()).toBeNull();
    const { summary } = await sync(optionsOf());
    expect(summary.status).toBe("succeeded");
    const checked = await checks();
    expect(checked).toBeGreaterThan(9);
    const broken = withCheck(async (options) => {
      const result = await runSync(options);
      return { ...result, summary: { ...result.summary, status: "partial" as const } };
    }, findRecord);
    await broken(optionsOf());
    expect(await checks()).toBe(checked);
  });

  it("is as good where the check fails", { tags: ["long"] }, async () => {
    const { optionsOf } = await start();
    const sync = withCheck(runSync, async () => {
      throw new Error("no");
    });
    expect((await sync(optionsOf())).summary.status).toBe("succeeded");
  });
});
