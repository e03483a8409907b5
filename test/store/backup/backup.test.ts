import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import { gunzipSync, gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { mirrorTables } from "../../../src/store/backup/mirror-tables.ts";
import {
  type BackupHeader,
  checkBackup,
  countRows,
  type FrameKind,
  frame,
  HEAD_BYTES,
  jsonFrame,
  MAGIC,
} from "../../../src/store/backup/read-backup.ts";
import { restoreBackup } from "../../../src/store/backup/restore-backup.ts";
import { writeBackup } from "../../../src/store/backup/write-backup.ts";
import { connect, withSql } from "../../../src/store/connection/connect.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { createTestDatabase, type TestDatabase, withTestSql } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { fingerprintTables } from "../../support/mirror-rows.ts";
import { createReportedMirror } from "../../support/reported-mirror.ts";
import { useDatabase } from "../../support/use-database.ts";

const folder = useFolder("docmirror-backup-");
let file: string;
const database = useDatabase(createReportedMirror);
const { sql } = database;
const definitions = readDefinitions();
const { signal } = new AbortController();

beforeAll(async () => {
  file = folder.at("mirror.backup");
  // A log that no frame holds, with all that COPY writes otherwise.
  await sql`
    insert into mirror.build_logs (build_id, output)
    select id, E'\\\\.\n\t\\N\r' || repeat('ü\n', 1000000) from mirror.builds limit 1
    on conflict (build_id) do update set output = excluded.output`;
  await sql`
    insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
    values ('full', 'running', '2025-08-16', '2025-08-16 00:01', 1, 'elsewhere')`;
  await sql`insert into report.error_rules (position, pattern, class) values (-5, 'mine', 'mine')`;
  await write(file);
});
const write = (place: string, by = sql) => writeBackup({ sql: by, definitions, file: place, signal });
const drafts = async () => (await readdir(folder.path)).filter((name) => name.includes("partial"));

function connected(url = database.url, applicationName = "docmirror test"): Sql {
  const own = connect(url, { applicationName, max: 1 });
  onTestFinished(() => own.end({ timeout: 0 }));
  return own;
}

const restoreInto = (url: string, from: string) =>
  withTestSql(url, (sql) => restoreBackup({ sql, definitions, file: from, place: "here", signal }));
const expectNothingIn = async ({ sql }: TestDatabase) =>
  expect(await sql`select from pg_namespace where nspname in ('mirror', 'sync')`).toHaveLength(0);

/** The rows of each table of the database, null where there is none. What a migration writes by itself is left out. */
async function rowsByTable(sql: Sql): Promise<[name: string, rows: string | null][]> {
  const tables = await sql<{ name: string }[]>`
    select schemaname || '.' || tablename as name from pg_tables
    where schemaname in ('mirror', 'sync', 'rollup', 'report') and tablename not in ('migrations', 'definitions')
    order by 1`;
  const all: [string, string | null][] = [];
  for (const { name } of tables) {
    const text = `select string_agg(one::text, E'\n' order by one::text) as rows from ${name} as one`;
    all.push([name, (await sql.unsafe(text))[0]?.rows ?? null]);
  }
  return all;
}

/** What COPY must quote, of each type. */
const VALUES: Record<string, string> = {
  text: "E'a\\t\\\\N\\n'",
  "text[]": `array['a', 'b,"}']`,
  jsonb: `'{"a": "\\n"}'`,
  bytea: "'\\x00ff'",
  tsvector: "to_tsvector('simple', 'it''s a test')",
  boolean: "true",
  smallint: "200",
  integer: "7",
  bigint: "7",
  "double precision": "0.1::float8",
  "timestamp(6) with time zone": "timestamptz '2025-08-15 02:17:00.000001Z'",
};

/** Where it is empty, adds a row with a value in every column that can be written. A reference is to some row of its table. */
async function fillTable(sql: Sql, table: string): Promise<void> {
  if ((await sql.unsafe(`select from ${table} limit 1`)).length > 0) return;
  const columns = await sql<{ name: string; type: string; parent: string | null; key: string | null }[]>`
    select attname as name, format_type(atttypid, atttypmod) as type, confrelid::regclass::text as parent, (
        select attname from pg_attribute as key where key.attrelid = confrelid and key.attnum = confkey[1]
      ) as key
    from pg_attribute
    left join pg_constraint on conrelid = attrelid and contype = 'f' and conkey[1] = attnum
    where attrelid = ${table}::regclass and attnum > 0 and not attisdropped and attidentity = '' and attgenerated = ''
    order by attnum`;
  for (const { parent } of columns) if (parent !== null) await fillTable(sql, parent);
  const values = columns.map(({ type, parent, key }) =>
    parent === null ? VALUES[type] : `(select ${key} from ${parent} limit 1)`,
  );
  await sql.unsafe(
    `insert into ${table} (${columns.map(({ name }) => `"${name}"`).join(", ")}) values (${values.join(", ")})`,
  );
}

async function alter(name: string, change: (bytes: Buffer) => Buffer): Promise<string> {
  const path = folder.at(name);
  await writeFile(path, gzipSync(change(gunzipSync(await readFile(file))), { level: 1 }));
  return path;
}

/** A backup whose sums are right, with other rows of a table, or another header. */
function forge(
  table: string,
  change: (rows: string) => string,
  changeHeader?: (header: BackupHeader) => void,
): Promise<string> {
  return alter(`forged-${table}`, (bytes) => {
    const header = JSON.parse(String(contentOf(bytes, MAGIC.length))) as BackupHeader;
    changeHeader?.(header);
    const { tables } = header;
    const written: Buffer[] = [MAGIC];
    let place = 0;
    let rows = 0;
    for (let at = MAGIC.length; bytes[at] !== "Z".charCodeAt(0); ) {
      let content = contentOf(bytes, at);
      const kind = String.fromCharCode(bytes[at] ?? 0) as FrameKind;
      at += HEAD_BYTES + content.length;
      const name = tables[place]?.name ?? "";
      if (name === table) {
        if (kind === "D") content = Buffer.from(change(content.toString("latin1")), "latin1");
        rows += countRows(content);
        if (kind === "E") {
          content = Buffer.from(JSON.stringify({ rows }));
          rows = 0;
        }
      }
      if (kind === "H") content = Buffer.from(JSON.stringify(header));
      if (kind === "E") place++;
      written.push(frame(kind, content));
    }
    const sha256 = createHash("sha256").update(Buffer.concat(written)).digest("hex");
    return Buffer.concat([...written, jsonFrame("Z", { sha256 })]);
  });
}

const contentOf = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + bytes.readUInt32BE(at + 1));

function withHeader(bytes: Buffer, change: (header: BackupHeader) => void): Buffer {
  const content = contentOf(bytes, MAGIC.length);
  const header = JSON.parse(String(content));
  change(header);
  const rest = bytes.subarray(MAGIC.length + HEAD_BYTES + content.length);
  return Buffer.concat([MAGIC, jsonFrame("H", header), rest]);
}

describe("a backup", () => {
  it("brings each row of each table back, and numbers go on", async () => {
    await using target = await createTestDatabase({ migrated: false });
    await restoreInto(target.url, file);
    await withTestSql(target.url, async (restored) => {
      const [wanted, found] = [await fingerprintTables(sql), await fingerprintTables(restored)];
      expect(Object.keys(found)).toHaveLength(mirrorTables(readDefinitions().tables).length);
      const { "sync.runs": runs, ...others } = wanted;
      expect(found).toMatchObject(others);
      expect(runs?.rows).toBe(found["sync.runs"]?.rows);
      const [ended] =
        await restored`select status, finished_at, error from sync.runs where host = 'elsewhere'`;
      const error = "the backup was taken while it ran";
      expect(ended).toEqual({ status: "interrupted", finished_at: "2025-08-16 00:01:00+00", error });
      const last = await sql`select max(id) as id from sync.runs`;
      const [next] = await restored`
        insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
        values ('full', 'failed', now(), now(), 1, 'here') returning id`;
      expect(next?.id).toBe(last[0]?.id + 1);
      const idle = restored`select from pg_trigger where not tgisinternal and tgenabled = 'D'`;
      expect(await idle).toHaveLength(0);
    });
  });

  it("has a row of every table, with a value in every column", { tags: ["long"] }, async () => {
    await using mirror = await createReportedMirror();
    const full = connected(mirror.url);
    for (const [name] of await rowsByTable(full)) await fillTable(full, name);
    const wanted = await rowsByTable(full);
    expect(wanted.filter(([, rows]) => rows === null)).toEqual([]);
    const place = folder.at("every-table.backup");
    await write(place, full);
    await using target = await createTestDatabase({ migrated: false });
    await restoreInto(target.url, place);
    expect(await rowsByTable(connected(target.url))).toEqual(wanted);
  });

  it("goes into an empty mirror of the same version, and is refused where there are records", {
    tags: ["long"],
  }, async () => {
    await using target = await createTestDatabase();
    await restoreInto(target.url, file);
    const already = /^there is a mirror in here already: mirror\./;
    await expect(restoreInto(target.url, file)).rejects.toThrow(already);
  });

  it("replaces an earlier backup alone, is for its owner alone, and leaves no draft", {
    tags: ["long"],
  }, async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await write(file);
    const other = folder.at("notes.txt");
    await writeFile(other, "mine");
    await expect(write(other)).rejects.toThrow("notes.txt is not a backup, so it is not replaced");
    await expect(write(folder.path)).rejects.toThrow("is a folder");
    await expect(write("/proc/x")).rejects.toThrow(/^could not write to \/proc\/x: /);
    expect(await readFile(other, "utf8")).toBe("mine");
    expect(await drafts()).toEqual([]);
  });

  it("that is written twice at once is whole, whichever ends last", { tags: ["long"] }, async () => {
    const place = folder.at("twice.backup");
    const both = await Promise.allSettled([write(place, connected()), write(place, connected())]);
    expect(both.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect((await checkBackup(place, { signal })).rows).toMatchObject({ "mirror.projects": 4 });
    expect(await drafts()).toEqual([]);
  });

  it("has all rows of a table that a migration rewrote after the backup began", {
    tags: ["long"],
  }, async () => {
    await using mirror = await createReportedMirror();
    const [first] = mirrorTables(readDefinitions().tables);
    await withSql(mirror.url, { applicationName: "docmirror test", max: 2 }, async (other) => {
      const file = folder.at("rewritten.backup");
      const backedUp = await other.begin(async (migration) => {
        await migration.unsafe(`lock table ${first?.name} in access exclusive mode`);
        const writing = write(file, connected(mirror.url));
        writing.catch(() => {});
        const waits = () => other`
          select from pg_locks where not granted and relation = ${first?.name ?? ""}::regclass`;
        await expect.poll(async () => (await waits()).length).toBe(1);
        // A transaction that began before finds the table empty, as after a truncate.
        await migration`alter table mirror.build_logs add column note float8 default random()`;
        return { writing };
      });
      const { rows } = await backedUp.writing;
      const [stored] = await other`select count(*)::int as rows from mirror.build_logs`;
      expect(rows["mirror.build_logs"]).toBe(stored?.rows);
    });
  });
});

describe("a connection that dies", () => {
  const end = (url: string) =>
    withSql(url, { applicationName: "docmirror test killer", max: 1 }, (other) =>
      other`
        select pg_terminate_backend(pid, 5000) from pg_stat_activity
        where datname = current_database() and application_name = 'docmirror test dying'`.then(() => {}),
    );
  const dying = (url: string) => connected(url, "docmirror test dying");

  it("under a backup leaves the last one and no draft", async () => {
    const place = folder.at("dying.backup");
    await write(place);
    const before = await readFile(place);
    await withSql(database.url, { applicationName: "docmirror test", max: 2 }, (holder) =>
      holder.begin(async (tx) => {
        // The backup waits for its tables, so that it cannot end before it is hit.
        await tx`lock table mirror.users in access exclusive mode`;
        const own = dying(database.url);
        const failed = expect(write(place, own)).rejects.toBeInstanceOf(StoreError);
        const waiting = () => holder`
          select from pg_stat_activity where application_name = 'docmirror test dying' and wait_event_type = 'Lock'`;
        await expect.poll(waiting).toHaveLength(1);
        await end(database.url);
        await failed;
      }),
    );
    expect(await readFile(place)).toEqual(before);
    expect(await drafts()).toEqual([]);
  });

  it("under a restore leaves nothing of it", { tags: ["long"] }, async () => {
    await using target = await createTestDatabase({ migrated: false });
    let ended: Promise<void> | undefined;
    const restoring = restoreBackup({
      sql: dying(target.url),
      definitions,
      file,
      place: "here",
      signal,
      onRows: () => {
        ended ??= end(target.url);
      },
    });
    await expect(restoring).rejects.toBeInstanceOf(StoreError);
    await ended;
    await expectNothingIn(target);
    await restoreInto(target.url, file);
  });
});

describe("a file that is no whole backup", { tags: ["long"] }, () => {
  const end = (bytes: Buffer) => bytes.lastIndexOf("Z\0\0\0");
  async function refuse(from: string, says: RegExp): Promise<void> {
    await using target = await createTestDatabase({ migrated: false });
    await expect(restoreInto(target.url, from)).rejects.toThrow(says);
    await expectNothingIn(target);
  }

  it.each<[what: string, change: (bytes: Buffer) => Buffer, says: RegExp]>([
    ["cut", (bytes) => bytes.subarray(0, bytes.length - 5), /: it is cut off$/],
    ["without its end", (bytes) => bytes.subarray(0, end(bytes)), /: it is cut off$/],
    ["longer", (bytes) => Buffer.concat([bytes, Buffer.from("x")]), /something follows its end$/],
    [
      "altered in one letter of a row",
      (bytes) => Buffer.from(bytes.toString("latin1").replace("Project 3", "Qroject 3"), "latin1"),
      /: it was altered$/,
    ],
    [
      "with a length beyond any frame",
      (bytes) => Buffer.concat([MAGIC, Buffer.from("H\xff\xff\xff\xff", "latin1"), bytes]),
      /: it is damaged$/,
    ],
  ])("%s is refused, and nothing is made", async (what, change, says) => {
    await refuse(await alter(what, change), says);
  });

  it.each<[what: string, change: (header: BackupHeader) => void, says: RegExp]>([
    [
      "a table of another program",
      (header) => header.tables.splice(0, 99, { name: 'pg_catalog.pg_authid"; drop', columns: ["rolname"] }),
      /the schema has no table pg_catalog/,
    ],
    ["one of our tables too few", (header) => header.tables.pop(), /it lacks the table /],
    [
      "the migrations of a later version",
      (header) => {
        header.migrations.push({ tag: "9999_later", hash: "x" });
        header.version = "9.0.0";
      },
      /docmirror 9\.0\.0 made it, whose schema this program does not know$/,
    ],
  ])("with %s is refused, and nothing is made", async (what, change, says) => {
    await refuse(await alter(what, (bytes) => withHeader(bytes, change)), says);
  });

  it.each<[what: string, table: string, change: (rows: string) => string, says: RegExp]>([
    [
      "that no column takes",
      "mirror.builds",
      (rows) => rows.replace("\tfinished\t", "\tfinished\tmaybe"),
      /: its rows are refused: .*maybe.* \(22P02\)$/,
    ],
    [
      "that refers to none",
      "mirror.build_transitions",
      (rows) => rows.replace(/^\d+/, (id) => "x".repeat(id.length)),
      /: its rows are refused: .*foreign key.* \(23503\)$/,
    ],
    [
      "behind the mark of their end",
      "mirror.users",
      (rows) => `\\.\n${rows}`,
      /: (?:mirror\.users took 0 of 2 rows|its rows are refused: .*)$/,
    ],
  ])("with a row %s is refused, and nothing is made", async (_what, table, change, says) => {
    await refuse(await forge(table, change), says);
  });

  it("or none at all is refused, and nothing is made", async () => {
    const short = await alter("short", (bytes) => bytes);
    await truncate(short, Math.floor((await stat(short)).size / 2));
    await writeFile(folder.at("text.txt"), "a text");
    await writeFile(folder.at("empty"), "");
    spawnSync("mkfifo", [folder.at("pipe")]);
    await refuse(short, /: it is cut off$/);
    await refuse(folder.at("text.txt"), /not a backup, or damaged$/);
    await refuse(folder.at("empty"), /: it is cut off$/);
    await refuse(folder.at("nowhere"), /there is no such file$/);
    for (const file of ["/dev/zero", folder.at("pipe")]) await refuse(file, /it is not a file$/);
  });
});
