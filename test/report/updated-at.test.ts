/**
 * A copy that takes the rows whose `updated_at` is later than the highest that it has, as replicating tools do, is the relation after each
 * change of anything that one of its columns depends on.
 */
import { beforeAll, describe, expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { useDatabase } from "../support/use-database.ts";
import type { Row } from "./model/rates.ts";
import { ZONE } from "./random-lives.ts";
import { createRandomMirror } from "./random-mirror.ts";

const database = useDatabase();
const { sql } = database;
const KEYS = { fact_builds: "build_id", dim_projects: "project_id", dim_versions: "version_id" } as const;
const RELATIONS = Object.entries(KEYS);
const settings = { sourceTimezone: ZONE, stuckAfterMs: 7_200_000 };

/** Each row by its key, and the highest `updated_at`, of each relation. */
const copies = new Map<string, { rows: Map<unknown, Row>; newest: string }>();

/** Brings the copies up to date. Gives how many rows came. */
async function copy(): Promise<number> {
  let came = 0;
  for (const [relation, key] of RELATIONS) {
    const { rows, newest } = copies.get(relation) ?? { rows: new Map(), newest: "-infinity" };
    const fresh = await sql<Row[]>`
      select * from ${sql(`report.${relation}`)} where updated_at > ${newest}::timestamptz order by updated_at`;
    for (const row of fresh) rows.set(row[key], row);
    copies.set(relation, { rows, newest: String(fresh.at(-1)?.updated_at ?? newest) });
    came += fresh.length;
  }
  return came;
}

async function findStale(): Promise<string[]> {
  const stale: string[] = [];
  for (const [relation, key] of RELATIONS)
    for (const row of await sql<Row[]>`select * from ${sql(`report.${relation}`)}`) {
      const copied = copies.get(relation)?.rows.get(row[key]);
      const differing = Object.keys(row).filter(
        (column) => JSON.stringify(row[column]) !== JSON.stringify(copied?.[column]),
      );
      if (differing.length > 0) stale.push(`${relation} ${row[key]}: ${differing.join(", ")}`);
    }
  return stale;
}

beforeAll(async () => {
  await createRandomMirror(createRandom(7)).insert(sql, 400);
  // Most builds are of a version of their project, and many of its default one.
  await sql`update mirror.projects set default_version = '', deleted_at = null`;
  await sql`
    update mirror.builds set project_id = version.project_id from mirror.versions as version
    where version.id = version_id and hashtext(builds.id) % 5 <> 0`;
  await refreshReport(sql, settings);
  await copy();
});

/** Of each table that the relations are made of, the columns, with a value that none of its rows has. */
const COLUMNS: Record<string, Record<string, string>> = {
  "mirror.projects": {
    slug: "slug || 'x'",
    name: "'x' || id",
    repo: "'x'",
    repo_type: "'x'",
    documentation_type: "'x'",
    default_version: "'version-3'",
    default_branch: "'x'",
    pub_date: "'2001-01-01'",
    theme: "'x'",
    listed: "false",
    deleted_at: "now()",
    use_virtualenv: "true",
    first_seen_at: "'2001-01-01'",
    extra: `'{"values": {"programming_language": "py"}}'`,
  },
  "mirror.versions": {
    slug: "'version-3'",
    verbose_name: "'x' || id",
    identifier: "'x'",
    active: "false",
    built: "true",
    uploaded: "true",
    deleted_at: "now()",
    first_seen_at: "'2001-01-01'",
    project_id: "(select id from mirror.projects where id <> versions.project_id order by id limit 1)",
  },
  "mirror.builds": {
    date: "date + interval '3 days'",
    state: "'building'",
    success: "not success",
    type: "'x'",
    project_id: "'3'",
    version_id: "'3'",
    deleted_at: "now()",
    first_seen_at: "'2001-01-01'",
  },
  "mirror.build_transitions": { not_before: "'-infinity'", not_after: "not_after + interval '1 minute'" },
  "sync.open_builds": { seen_at: "'2025-06-01'", vanished_at: "now()" },
};
const CHANGES = Object.entries(COLUMNS).flatMap(([table, columns]) =>
  Object.entries(columns).map(([column, value]) => ({ name: `${table}.${column}`, table, column, value })),
);

describe("a copy by updated_at", () => {
  test("is whole at first", async () => {
    expect(await findStale()).toEqual([]);
  });

  test.each(CHANGES)("takes what a change of $name changes", async ({ table, column, value }) => {
    // Half of the rows, so that a change that all share is no excuse.
    const id = table.startsWith("mirror.build_") || table.startsWith("sync.") ? "build_id" : "id";
    await sql.unsafe(`update ${table} set ${column} = ${value} where hashtext(${id}) % 2 = 0`);
    await refreshReport(sql, settings);
    await copy();
    expect(await findStale()).toEqual([]);
  });

  test.each<[string, string, object]>([
    [
      "rules of errors",
      "insert into report.error_rules (position, pattern, class) values (-1, '.', 'any')",
      { reclassify: true },
    ],
    [
      "logs",
      "update mirror.build_logs set error = 'fatal: other'; update mirror.builds set record_hash = '\\x09'",
      {},
    ],
    ["when a build is stuck", "select 1", { stuckAfterMs: 60_000 }],
    ["the zone of the source", "select 1", { sourceTimezone: "Asia/Tokyo" }],
    [
      "the version that a build kept",
      "insert into mirror.kept_versions select id, '5' from mirror.builds where version_id is null on conflict do nothing; update mirror.versions set deleted_at = now() where id = '5'",
      {},
    ],
  ])("takes what a change of %s changes", async (_name, statement, options) => {
    await sql.unsafe(statement);
    await refreshReport(sql, { ...settings, ...options });
    expect(await copy()).toBeGreaterThan(0);
    expect(await findStale()).toEqual([]);
  });
});
