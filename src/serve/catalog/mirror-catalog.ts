import type { SQL } from "drizzle-orm";
import { alias } from "drizzle-orm/pg-core";
import { findAnchors, findDocs, findFiles } from "../../mirror/content/search-contents.ts";
import { columnOf, RECORD_TABLES, type RecordTable, recordsAs } from "../../mirror/load/tables.ts";
import { type RestorableRecord, restoreRecord } from "../../mirror/normalize/record.ts";
import { PLANS } from "../../mirror/normalize/record-plan.ts";
import { parseLocalTime } from "../../resources/local-time.ts";
import { parseJson } from "../../resources/parse-json.ts";
import { isStorableId } from "../../resources/record-id.ts";
import {
  type FileHitRecord,
  REFERENCE_FIELDS,
  type RecordTypes,
  type Resource,
} from "../../resources/resources.ts";
import {
  type AnySql,
  compose,
  type MirrorReader,
  runStatement,
  type Sql,
  statement,
} from "../../store/connection/sql.ts";
import type { Extra } from "../../store/schema/columns.ts";
import { buildLogs } from "../../store/schema/index.ts";
import { type Catalog, type ListRequest, NotReadyError, type Slice } from "../protocol/catalog.ts";
import { createListSlices, isShown } from "./list-slice.ts";

const LIST_REVISION = statement<{
  revision: string | null;
  changed_ms: number | null;
  age_ms: number | null;
}>("list_revision", import.meta.url);

/**
 * Answers the protocol from the mirror's tables, each reply from one snapshot. Deleted records are absent, and
 * so is what upstream's lists do not show. A list that no walk has read to its end yet throws `NotReadyError`.
 * The details of hidden projects are absent too; other hidden records are found by their id.
 */
export function createMirrorCatalog(mirror: MirrorReader): Catalog {
  const slices = createListSlices();
  const { assertReady, assertFetched } = createReadiness();
  const search = <T>(find: (sql: Sql) => Promise<T>) =>
    mirror.read(async (sql) => {
      await assertFetched(sql);
      return find(sql);
    });

  return {
    list<R extends Resource>(resource: R, query: ListRequest): Promise<Slice<RecordTypes[R]>> {
      return mirror.snapshot(async (tx) => {
        await assertReady(tx, resource);
        const { revision } = await readRevision(tx, resource);
        const { ids, totalCount } = await slices(tx, resource, query, revision);
        const records = await readRecords(tx, resource, ids);
        return { records: records as unknown as RecordTypes[R][], totalCount, revision };
      });
    },

    async find<R extends Resource>(resource: R, id: string): Promise<RecordTypes[R] | undefined> {
      if (!isStorableId(id)) return undefined;
      // Its absence says that there is no such record only when the list is known. That is asked first: a walk
      // that ends in between may have brought the record.
      const unready = await mirror.read((sql) => assertReady(sql, resource)).catch((error: unknown) => error);
      const find = (sql: AnySql) => findRecord(sql, resource, id);
      // One statement reads a user or a build. Others take several, which must see one moment.
      const isWhole = resource === "user" || resource === "build";
      const read = isWhole ? await mirror.read(find) : undefined;
      // Of sessions that a pooler lends, only a transaction has our settings: Postgres then refuses what a policy hides.
      const record = read ?? (await mirror.snapshot(find));
      if (record === undefined) {
        if (unready !== undefined) throw unready;
        await mirror.read((sql) => assertNotQuarantined(sql, resource, id));
      }
      return record as unknown as RecordTypes[R] | undefined;
    },

    async searchFiles(query) {
      const { hits } = await search((sql) => findFiles(sql, query));
      if (hits.length === 0) return [];
      const ids = hits.map(({ fileId }) => fileId);
      const records = await mirror.snapshot((tx) => readRecords(tx, "file", ids));
      const byId = new Map(records.map((record) => [String(record.id), record]));
      return hits.flatMap(({ fileId, text }) => {
        const record = byId.get(fileId);
        return record ? [{ ...record, text } as unknown as FileHitRecord] : [];
      });
    },
    searchAnchors: (q) => search((sql) => findAnchors(sql, { q })),
    searchDocs: (query) => search((sql) => findDocs(sql, query)),

    schema: (resource) =>
      mirror.read(async (sql) => {
        const [stored] = await sql<{ body: unknown }[]>`
          select body from sync.upstream_schemas where resource = ${resource} order by run_id desc limit 1`;
        return stored?.body;
      }),

    basePath: () =>
      mirror.read(async (sql) => {
        const [service] = await sql<{ base_url: string }[]>`select base_url from sync.service`;
        return service === undefined ? "" : new URL(service.base_url).pathname.replace(/\/$/, "");
      }),

    revision: (resource) => mirror.read(async (sql) => (await readRevision(sql, resource)).revision),

    lastModified: (resource, settledMs = Number.NEGATIVE_INFINITY) =>
      mirror.read(async (sql) => {
        const { changedAt, ageMs } = await readRevision(sql, resource);
        return changedAt === null || ageMs < settledMs ? undefined : changedAt;
      }),
  };
}

/** A record as its detail shows it. Undefined where that is a 404. Most take several statements, which must see one moment. */
export async function findRecord(sql: AnySql, resource: Resource, id: string) {
  const isFound = (r: RecordTable) =>
    compose`${r.deleted_at} is null${resource === "project" ? compose` and ${isShown(resource, r)}` : undefined}`;
  return (await readRecords(sql, resource, [id], isFound))[0];
}

/** A record that the service has and the mirror could not store is not absent. Throws `NotReadyError`. */
async function assertNotQuarantined(sql: AnySql, resource: Resource, id: string): Promise<void> {
  const found = await sql`
    select from sync.quarantine where resource = ${resource} and record_id = ${id} and resolved_at is null limit 1`;
  if (found.length > 0) throw new NotReadyError(`The ${resource} ${id} could not be stored yet`);
}

/** Once it was ready, it stays so. */
function createReadiness() {
  const ready = new Set<Resource | "content">();
  return {
    /** Throws `NotReadyError` until a walk has read a list to its end. */
    async assertReady(sql: AnySql, resource: Resource): Promise<void> {
      if (ready.has(resource)) return;
      // A walk that broke off keeps a checkpoint, or has no page.
      const found = await sql`
        select from sync.walks
        where resource = ${resource} and finished_at is not null and checkpoint is null and pages > 0 limit 1`;
      if (found.length === 0)
        throw new NotReadyError(`The ${resource} list has not been read to its end yet`);
      ready.add(resource);
    },
    /** Throws `NotReadyError` until a page of documentation was fetched: no hits would say that the word stands nowhere. */
    async assertFetched(sql: AnySql): Promise<void> {
      if (ready.has("content")) return;
      const found = await sql`select from mirror.file_contents where fetched_at is not null limit 1`;
      if (found.length === 0)
        throw new NotReadyError("No page of documentation has been fetched yet (DOCMIRROR_CONTENT)");
      ready.add("content");
    },
  };
}

/** The resources that a list is read from: its own, those embedded in it, and those that its filters can reach. */
function partsOf(resource: Resource): Resource[] {
  const targets = REFERENCE_FIELDS.filter((field) => field.resource === resource);
  return [...new Set([resource, ...targets.flatMap(({ target }) => partsOf(target))])];
}

/**
 * The revision of a list, from the rows that triggers keep: equal revisions mean equal lists. With when it last changed and how
 * long ago that was, by the clock of the database: null in an empty mirror, negative where the clock was put back.
 */
async function readRevision(sql: AnySql, resource: Resource) {
  // The times too: a database that was restored, or a standby that took over, may count to the same number again.
  const [found] = await LIST_REVISION(sql, { resources: partsOf(resource) });
  const { revision, changed_ms = null, age_ms } = found ?? {};
  const changedAt = changed_ms === null ? null : new Date(changed_ms);
  return { revision: revision ?? "0", changedAt, ageMs: age_ms ?? 0 };
}

/** Between two batches of a long page other requests have their turn. */
const BATCH_RECORDS = 100;

type WireRecord = Record<string, unknown>;
type Row = { id: string; extra: Extra | null } & Record<string, unknown>;

/**
 * Records in their wire form, in the order of `ids`, without those that are not there or do not meet the condition. Users and
 * builds take one statement. Others take several, which must see one snapshot.
 */
export async function readRecords(
  sql: AnySql,
  resource: Resource,
  ids: readonly string[],
  condition?: (r: RecordTable) => SQL,
): Promise<WireRecord[]> {
  const records = new Map<string, WireRecord>();
  for (let from = 0; from < ids.length; from += BATCH_RECORDS) {
    const batch = ids.slice(from, from + BATCH_RECORDS);
    const rows = await runStatement<Row>(sql, rowsOf(resource, batch, condition));
    const belongings = await readBelongings(sql, resource, rows);
    for (const row of rows)
      records.set(row.id, restoreRecord(resource, { ...toStored(resource, row), ...belongings(row) }));
  }
  return ids.map((id) => records.get(id)).filter((record) => record !== undefined);
}

function rowsOf(
  resource: Resource,
  ids: readonly string[],
  condition: ((r: RecordTable) => SQL) | undefined,
): SQL {
  const r = recordsAs(resource, "r");
  const logs = alias(buildLogs, "logs");
  const { long } = PLANS[resource];
  const texts = long.map((field) => compose`, ${columnOf(logs, field)}`);
  return compose`
    select ${r}.*${compose.join(texts)},
      case when ${r.extra}::text ~ '[0-9.]{16}' then ${r.extra}::text end as exact_extra
    from ${RECORD_TABLES[resource].table} as ${r}
    ${long.length > 0 ? compose`left join ${buildLogs} as ${logs} on ${logs.build_id} = ${r.id}` : undefined}
    where ${r.id} = any (${compose.param(ids)}::text[]) and ${condition?.(r) ?? compose`true`}`;
}

/** The parts of these records that other tables hold: administrators, or embedded projects. */
async function readBelongings(
  sql: AnySql,
  resource: Resource,
  rows: readonly Row[],
): Promise<(row: Row) => Partial<RestorableRecord>> {
  if (rows.length > 0 && PLANS[resource].list !== undefined) {
    const users = new Map<string, string[]>();
    const found = await sql<{ project_id: string; user_uri: string }[]>`
      select project_id, user_uri from mirror.project_users
      where project_id = any (${rows.map(({ id }) => id)}::text[]) order by project_id, position`;
    for (const { project_id, user_uri } of found) {
      const known = users.get(project_id);
      if (known) known.push(user_uri);
      else users.set(project_id, [user_uri]);
    }
    return ({ id }) => ({ users: users.get(id) ?? [] });
  }
  if (rows.length > 0 && PLANS[resource].embedded !== undefined) {
    const ids = new Set(rows.map(({ project_id }) => project_id).filter((id) => typeof id === "string"));
    const projects = await readRecords(sql, "project", [...ids]);
    const byId = new Map(projects.map((project) => [String(project.id), project]));
    return ({ project_id }) => ({ project: byId.get(String(project_id)) ?? null });
  }
  return () => ({});
}

function toStored(resource: Resource, row: Row): RestorableRecord {
  for (const { name, kind } of PLANS[resource].fields) {
    const date = kind === "datetime" ? row[name] : null;
    // Postgres prints a blank and drops the last zeros of the fraction.
    if (typeof date === "string") row[name] = parseLocalTime(date)?.text ?? date;
  }
  // The driver would change large numbers.
  const { exact_extra: exact } = row;
  const extra = typeof exact === "string" ? (parseJson(exact, { isExact: true }) as Extra) : row.extra;
  return { id: row.id, extra, columns: row };
}
