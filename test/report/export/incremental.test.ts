import fs from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type ExportOptions, exportReport } from "../../../src/report/export/export-report.ts";
import { refreshReport } from "../../../src/report/refresh/refresh.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { runCli } from "../../support/cli.ts";
import { withTestSql } from "../../support/database.ts";
import { createReportedMirror, REPORT_SETTINGS } from "../../support/reported-mirror.ts";
import { createReader } from "../../support/roles.ts";
import { later } from "../../support/tally.ts";
import { useDatabase } from "../../support/use-database.ts";

const database = useDatabase(createReportedMirror);
const { sql } = database;
let parent: string;
let out: string;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), "docmirror-incremental-"));
});
afterAll(async () => {
  await rm(parent, { recursive: true, force: true });
});

type Given = Partial<ExportOptions>;
const { signal } = new AbortController();
const exportTo = (folder: string, given: Given = {}) =>
  exportReport({ sql, folder, format: "csv", signal, ...given });
const exportAgain = (given: Given = {}) => exportTo(out, { incremental: true, ...given });
const refresh = () => refreshReport(database.sql, REPORT_SETTINGS);

let count = 0;
beforeEach(async () => {
  out = join(parent, `out-${count++}`);
  await exportTo(out);
});

const NONE = "undated";
const fileOf = (month: string, ending = "csv") => `fact_builds/triggered_month=${month}/part-0.${ending}`;

type Files = Record<string, string>;

async function readAll(folder: string): Promise<Files> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: Files = {};
  for (const { name, parentPath } of entries.filter((entry) => entry.isFile())) {
    const path = join(parentPath, name);
    const isOfMoment = name === "_docmirror.json" || parentPath.endsWith("as_of");
    if (!isOfMoment) files[path.slice(folder.length + 1)] = await readFile(path, "utf8");
  }
  return files;
}

async function readFull(given: Given = {}): Promise<Files> {
  const folder = join(parent, `full-${count++}`);
  await exportTo(folder, given);
  return readAll(folder);
}

async function monthsWritten(given: Given = {}): Promise<string[]> {
  const inode = async (path: string) => (await stat(join(out, path)).catch(() => null))?.ino;
  const months = ["2025-08", "2025-07", "2025-06", NONE];
  const before = await Promise.all(months.map((month) => inode(fileOf(month))));
  const facts = await exportAgain(given);
  const after = await Promise.all(months.map((month) => inode(fileOf(month))));
  const written = months.filter((_, index) => after[index] !== before[index]);
  const { files, kept } = facts.relations.fact_builds ?? { files: [], kept: 0 };
  const there = written.filter((month) => files.some(({ path }) => path === fileOf(month)));
  expect(files.length - kept).toBe(there.length);
  expect(await readAll(out)).toEqual(await readFull(given));
  return written;
}

const updated = (what: string, id: string) =>
  `update mirror.builds set ${what}, record_hash = record_hash || '\\x01' where id = '${id}'`;
/** One after another: what happens to the mirror, and the months that are written then. */
const COURSE: readonly [what: string, statement: string, months: readonly string[]][] = [
  ["a build changed", updated("success = not success", "10"), ["2025-06"]],
  ["a build moved", updated("date = '2025-07-04 10:00'", "11"), ["2025-07", "2025-06"]],
  ["a build lost its date", updated("date = null", "204"), ["2025-08", NONE]],
  [
    "it is back, and another one came",
    `${updated("date = '2025-08-14'", "204")};
     insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
     values ('300', '2025-06-30', 'finished', true, 'html', now(), now(), '')`,
    ["2025-08", "2025-06", NONE],
  ],
  ["a month lost its last build", updated("date = '2025-08-01'", "202"), ["2025-08", NONE]],
  ["the month is back", updated("date = null", "202"), ["2025-08", NONE]],
  [
    "the facts were emptied by hand",
    "truncate rollup.builds; truncate rollup.state",
    ["2025-08", "2025-07", "2025-06", NONE],
  ],
];

describe("an incremental export", () => {
  it("writes no month when nothing changed, and reads no fact then", async () => {
    await refresh();
    const rows = (await exportAgain()).relations.fact_builds?.rows;
    const reads = async () => {
      await sql`select pg_stat_force_next_flush()`;
      await sql`select pg_stat_clear_snapshot()`;
      const [row] = await sql<{ reads: number }[]>`
        select (seq_scan + coalesce(idx_scan, 0))::int as reads from pg_stat_user_tables
        where (schemaname, relname) = ('rollup', 'builds')`;
      return row?.reads;
    };
    const before = await reads();
    const facts = await exportAgain();
    expect(await reads()).toBe(before);
    expect(facts.relations.fact_builds).toMatchObject({ rows, kept: 4 });
    expect(facts.full_because).toBeNull();
    expect(await monthsWritten()).toEqual([]);
  });

  it("writes the months whose builds changed, came or went, and no other", { tags: ["long"] }, async () => {
    await refresh();
    await exportAgain();
    for (const [what, statement, months] of COURSE) {
      await sql.unsafe(statement);
      await refresh();
      expect(await monthsWritten(), what).toEqual(months);
    }
  });

  it("writes dimensions alone after every project and version got a new name", async () => {
    await refresh();
    await exportAgain();
    await sql`update mirror.projects set slug = 'new-' || slug, name = 'New ' || id`;
    await sql`update mirror.versions set slug = 'new-' || id, verbose_name = 'New ' || id`;
    await refresh();
    const before = await readAll(out);
    expect(await monthsWritten()).toEqual([]);
    const after = await readAll(out);
    const written = Object.keys(after).filter((path) => after[path] !== before[path]);
    expect(written.toSorted()).toEqual(["dim_projects/part-0.csv", "dim_versions/part-0.csv"]);
    expect(after["dim_projects/part-0.csv"]).toContain("New 3");
  });

  it("writes a month anew whose file is gone or was cut", async () => {
    await rm(join(out, fileOf("2025-07")));
    await truncate(join(out, fileOf("2025-06")), 100);
    expect(await monthsWritten()).toEqual(["2025-07", "2025-06"]);
  });

  it("says why it writes all months, and is whole then too", { tags: ["long"] }, async () => {
    const manifest = join(out, "_docmirror.json");
    const edit = async (change: (facts: Record<string, unknown>) => unknown) =>
      writeFile(manifest, JSON.stringify(change(JSON.parse(await readFile(manifest, "utf8")))));
    const reason = async (given: Given = {}) => {
      const { full_because, relations } = await exportAgain(given);
      expect(await readAll(out)).toEqual(await readFull(given));
      return [full_because, relations.fact_builds?.kept];
    };
    expect(await reason({ since: "2025-07-01" })).toEqual(["it has another --since", 0]);
    expect(await reason({ since: "2025-07-01" })).toEqual([null, 2]);
    expect(await reason()).toEqual(["it has another --since", 0]);
    expect(await reason({ until: "2025-07-01" })).toEqual(["it has another --until", 0]);
    expect(await reason()).toEqual(["it has another --until", 0]);
    await exportTo(out, { format: "parquet" });
    expect(await reason()).toEqual(["it has another format", 0]);
    await edit((facts) => ({ ...facts, version: "0.0.1" }));
    expect(await reason()).toEqual(["another version of docmirror made it", 0]);
    await edit((facts) => ({ ...facts, definition: "" }));
    expect(await reason()).toEqual(["the columns of fact_builds have changed", 0]);
    await writeFile(manifest, "{");
    expect(await reason()).toEqual(["its _docmirror.json is not one of this version", 0]);
    await rm(out, { recursive: true });
    expect(await reason()).toEqual(["there is none", 0]);
  });

  it("keeps no file of another mirror, nor of one that took another way since a backup", {
    tags: ["long"],
  }, async () => {
    await using other = await createReportedMirror();
    const { relations, full_because } = await exportAgain({ sql: other.sql });
    expect([relations.fact_builds?.kept, full_because]).toEqual([0, null]);
  });

  it("keeps no file by a path that the manifest invents", { tags: ["long"] }, async () => {
    const path = join(out, "_docmirror.json");
    await writeFile(join(parent, "secret"), "secret");
    const facts = JSON.parse(await readFile(path, "utf8"));
    for (const file of facts.relations.fact_builds.files)
      Object.assign(file, { path: "../secret", bytes: 6 });
    await writeFile(path, JSON.stringify(facts));
    expect(await monthsWritten()).toHaveLength(4);
  });

  it("names the run that is in its answers, whatever the clocks of later ones say", async () => {
    await sql`insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('incremental', 'succeeded', '2001-01-01Z', '2001-01-01Z', '2001-01-01Z', 1, 'test')`;
    const [row] = await sql`select max(id)::int as newest from sync.runs`;
    expect((await exportAgain()).run_id).toBe(row?.newest - 1);
    await refresh();
    expect((await exportAgain()).run_id).toBe(row?.newest);
  });

  it("needs no more rights than those of a reader of the reports", async () => {
    await using role = await createReader(database);
    const { relations } = await withTestSql(role.url, (reader) => exportAgain({ sql: reader }));
    expect(relations.fact_builds?.kept).toBe(4);
  });

  it("fails rather than leave out a month that nobody noted", async () => {
    await sql`delete from rollup.fact_months where month = '2025-07'`;
    await expect(exportAgain()).rejects.toThrow(/the months have \d+ builds, and the reports count/);
    await sql`insert into rollup.fact_months values ('2025-07', gen_random_uuid())`;
    expect(await monthsWritten()).toEqual(["2025-07"]);
  });
});

describe("an incremental export that is killed", { tags: ["long"] }, () => {
  const CALLS = ["mkdir", "open", "link", "stat", "rename", "rm", "readdir", "copyFile"] as const;
  const change = async (at: number) => {
    await sql`update mirror.builds set success = not success, record_hash = record_hash || '\\x09'
      where id = ${String(1 + (at % 3) * 90)}`;
    await refresh();
    return readFull();
  };

  /** What is there is the old export or the new one, and the next run makes it the new one. Gives whether it stood beside its place. */
  async function expectRepaired(old: Files, fresh: Files): Promise<boolean> {
    const name = basename(out);
    // Between the two renames the old one is beside its place.
    const names = (await readdir(parent)).filter((each) => each.includes(name));
    const aside = names.filter((each) => each.startsWith(`.${name}.old-`));
    const isThere = names.includes(name);
    const place = isThere ? out : join(parent, aside[0] ?? "none");
    expect([old, fresh]).toContainEqual(await readAll(place));
    const manifest = JSON.parse(await readFile(join(place, "_docmirror.json"), "utf8"));
    for (const { path, bytes } of manifest.relations.fact_builds.files)
      expect((await stat(join(place, path))).size).toBe(bytes);
    await exportAgain();
    expect(await readAll(out)).toEqual(fresh);
    // The next run takes these away when they are a day old, because another machine may still write them.
    for (const left of names.filter((each) => each.startsWith(".")))
      await rm(join(parent, left), { recursive: true, force: true });
    return !isThere;
  }

  /** Makes call number `at` of those that touch files never come back, as if the process had ended before it; resolves when it is made. */
  function hangAt(at: number) {
    const { promise: reached, resolve } = later();
    let calls = 0;
    const real = CALLS.map((name) => [name, fs.promises[name] as (...args: unknown[]) => unknown] as const);
    for (const [name, call] of real)
      Object.assign(fs.promises, {
        [name]: (...args: unknown[]) => {
          if (!String(args[0]).startsWith(parent) || ++calls !== at) return call(...args);
          resolve();
          return new Promise(() => {});
        },
      });
    syncBuiltinESMExports();
    const letGo = () => {
      Object.assign(fs.promises, Object.fromEntries(real));
      syncBuiltinESMExports();
    };
    return { reached: reached.then(() => "hangs" as const), letGo };
  }

  it("before any of its calls on files leaves the old export or the new one, and the next run repairs", async () => {
    let gaps = 0;
    let old = await readFull();
    for (let at = 1; ; at++) {
      const fresh = await change(at);
      const { reached, letGo } = hangAt(at);
      const own = connect(database.url, { applicationName: "docmirror test", max: 1 });
      const end = await Promise.race([reached, exportAgain({ sql: own }).then(() => "ends" as const)]);
      letGo();
      // A process that ends leaves no session.
      await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`;
      await own.end({ timeout: 0 });
      if (await expectRepaired(old, fresh)) gaps++;
      old = fresh;
      if (end === "hangs") continue;
      expect(at).toBeGreaterThan(25);
      expect(gaps).toBe(1);
      break;
    }
  }, 300_000);

  it("by a signal, as a process, does so too", async () => {
    const old = await readFull();
    const fresh = await change(1);
    const killer = `
      import fs from "node:fs"; import { syncBuiltinESMExports } from "node:module";
      fs.promises.rename = () => process.kill(process.pid, "SIGKILL");
      syncBuiltinESMExports();`;
    const env = {
      DATABASE_URL: database.url,
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(killer)}`,
    };
    const args = ["export", "--out", out, "--format", "csv", "--incremental"];
    expect(await runCli(args, { env })).toMatchObject({ signal: "SIGKILL" });
    await expectRepaired(old, fresh);
  });
});
