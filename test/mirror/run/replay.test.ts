import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RunSummary } from "../../../src/mirror/lists/summary.ts";
import { fieldOf, RESOURCES } from "../../../src/resources/resources.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { recordedExchanges } from "../../support/recorded-exchanges.ts";
import { startReplay } from "../../support/replay-upstream.ts";
import { syncOnce } from "../../support/sync.ts";
import { useDatabase } from "../../support/use-database.ts";

type WireRecord = Record<string, unknown> & { id: string };

function recordedList(resource: string): WireRecord[] {
  const byId = new Map<string, WireRecord>();
  for (const { path, body } of recordedExchanges()) {
    if (!new RegExp(`^/api/v1/${resource}/\\?format=json&limit=100`).test(path)) continue;
    for (const record of JSON.parse(body).objects as WireRecord[]) byId.set(record.id, record);
  }
  return [...byId.values()];
}

describe("the recorded service", () => {
  const database = useDatabase();
  const { sql } = database;
  let summary: RunSummary;
  const replay = startReplay();

  beforeAll(async () => {
    const result = await syncOnce(database.url, (await replay).url);
    if (result.error) throw result.error;
    summary = result.summary;
  });
  afterAll(async () => (await replay).close());

  test("is walked whole, each list to its total_count", () => {
    expect(summary.status).toBe("succeeded");
    for (const resource of RESOURCES) {
      const records = recordedList(resource).length;
      expect(records).toBeGreaterThan(0);
      expect(summary.resources[resource]).toMatchObject({ walk: "whole", records, total_count: records });
    }
  });

  test.each(["user", "version", "file"] as const)("has each %s field as it was sent", async (resource) => {
    const stored = await storedRecords(sql, resource);
    expect(byId(stored)).toEqual(byId(recordedList(resource).map(withoutEmbedded)));
  });

  test("has each build field as it was sent, its texts apart", async () => {
    const stored = await sql<{ record: WireRecord }[]>`
      select (to_jsonb(build) || to_jsonb(log) || jsonb_build_object('project', project_uri, 'version', version_uri))
        - 'build_id' - 'project_uri' - 'version_uri' - 'project_id' - 'version_id' - 'life' as record
      from mirror.builds as build join mirror.build_logs as log on log.build_id = build.id`;
    expect(byId(stored.map(({ record }) => asSent(record)))).toEqual(byId(recordedList("build")));
  });

  test("has each project field as it was sent, its administrators in their order", async () => {
    const stored = await sql<{ record: WireRecord }[]>`
      select to_jsonb(project) - 'source' - 'listed' || jsonb_build_object('users', coalesce(
        (select jsonb_agg(user_uri order by position) from mirror.project_users where project_id = id), '[]')) as record
      from mirror.projects as project where listed`;
    expect(byId(stored.map(({ record }) => asSent(record)))).toEqual(byId(recordedList("project")));
  });

  test("keeps the project that only embedded copies tell of, as not listed", async () => {
    const rows = await sql`
      select id, source, (select count(*) from mirror.files where project_id = project.id) as files
      from mirror.projects as project where not listed`;
    expect(rows).toEqual([{ id: "8", source: "embedded", files: expect.any(Number) }]);
    expect(rows[0]?.files).toBeGreaterThan(0);
  });

  test("resolves every reference but the user that the service does not have", async () => {
    expect(summary.references.unresolved).toBe(5);
    const unresolved =
      await sql`select distinct resource, field, uri, status from mirror.unresolved_references`;
    const expected = [{ resource: "project", field: "users", uri: "/api/v1/user/6/", status: "gone" }];
    expect(unresolved).toEqual(expected);
    const dangling = await sql`
      select 1 from mirror.builds where project_id is null or (version_id is null) <> (version_uri is null)`;
    expect(dangling).toHaveLength(0);
  });

  test("gives each build its state at first sight, from its own date on", async () => {
    const rows = await sql<{ count: number; kept: number }[]>`
      select count(*) as count, count(*) filter (where transition.not_before = date at time zone 'UTC'
        and seq = 1 and from_state is null and to_state = state and anomaly is null) as kept
      from mirror.build_transitions as transition join mirror.builds as build on build.id = transition.build_id`;
    expect(rows).toEqual([{ count: 150, kept: 150 }]);
    expect(summary.transitions).toBe(150);
  });

  test("is mirrored again without a row changed", async () => {
    const before = await fingerprint(sql);
    const again = await syncOnce(database.url, (await replay).url, { kind: "full" });
    expect(again.error).toBeNull();
    for (const resource of RESOURCES)
      expect(again.summary.resources[resource]).toMatchObject({ updated: 0, inserted: 0 });
    expect(again.summary.transitions).toBe(0);
    expect(await fingerprint(sql)).toEqual(before);
  });
});

/** The stored rows of a table as records: upstream's fields alone. */
async function storedRecords(sql: Sql, resource: string): Promise<WireRecord[]> {
  const rows = await sql.unsafe<{ record: WireRecord }[]>(
    `select to_jsonb(row) as record from mirror.${resource}s as row`,
  );
  return rows.map(({ record }) => asSent(record));
}

const BOOKKEEPING = [
  ...["first_seen_at", "first_seen_run_id", "changed_at", "changed_run_id", "deleted_at"],
  "record_hash",
];

/** Drops our own columns, of which nothing may stand in `extra`, and prints dates as the service does. */
function asSent(row: WireRecord): WireRecord {
  expect(row.extra).toBeNull();
  const fields = Object.entries(row).filter(([name]) => name !== "extra" && !BOOKKEEPING.includes(name));
  return Object.fromEntries(
    fields.map(([name, value]) => [name, isDate(name) ? withSixDigits(value) : value]),
  ) as WireRecord;
}

const isDate = (name: string) => RESOURCES.some((resource) => fieldOf(resource, name)?.kind === "datetime");

/** to_jsonb drops the zeros at the end of a fraction. */
function withSixDigits(local: unknown): unknown {
  if (typeof local !== "string") return local;
  const [seconds, fraction] = local.split(".");
  return fraction === undefined ? seconds : `${seconds}.${fraction.padEnd(6, "0")}`;
}

/** A version or file as its table holds it: the embedded project by its id. */
function withoutEmbedded(record: WireRecord): WireRecord {
  if (!("project" in record)) return record;
  const { project, ...rest } = record;
  return { ...rest, project_id: (project as WireRecord).id };
}

function byId<T extends { id?: unknown }>(records: T[]): T[] {
  return records.toSorted((one, other) => (String(one.id) < String(other.id) ? -1 : 1));
}
