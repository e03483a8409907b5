import { ConfigError } from "../../base/errors.ts";
import { type AnySql, compose, oneRow, runStatement, runText, type Sql } from "../connection/sql.ts";
import { withStoreErrors } from "../connection/store-errors.ts";
import type { SyncKind } from "../schema/runs.ts";

/** The form of the base URL by which two services are compared. */
export function serviceUrl(baseUrl: URL): string {
  return baseUrl.origin + baseUrl.pathname.replace(/\/+$/, "");
}

/** The service of the mirror. Two would mix their records, because both number them from 1. Null before the first sync. */
export async function findService(sql: Sql) {
  const [service] = await sql<{ baseUrl: string; resources: string[] }[]>`
    select base_url as "baseUrl", resources from sync.service`;
  return service ?? null;
}

/**
 * Throws `ConfigError` when the mirror belongs to another service, and an error of Postgres where that does not know the zone of its dates,
 * which would else show after the lists are read.
 *
 * @param sourceTimezone @default none is asked about
 */
export async function assertService(sql: Sql, baseUrl: URL, sourceTimezone = "UTC"): Promise<void> {
  const [service] = await sql<{ baseUrl: string | null }[]>`
    select base_url as "baseUrl", now() at time zone ${sourceTimezone} as now
    from (values (1)) as one left join sync.service on true`;
  if (!service?.baseUrl || service.baseUrl === serviceUrl(baseUrl)) return;
  throw new ConfigError(
    `this mirror is of ${service.baseUrl}, and DOCMIRROR_BASE_URL is ${serviceUrl(baseUrl)}`,
    {
      hint:
        "use another database or --data-dir for another service; " +
        `if the same service has moved, run this once: \`docmirror migrate --service ${serviceUrl(baseUrl)}\``,
    },
  );
}

/** Stores at each sync which service is mirrored, which resources its root names, and the kind of the run that is planned by that. */
export async function noteService(
  sql: Sql,
  service: { baseUrl: URL; resources: readonly string[]; at: string },
  run: { runId: number; kind: SyncKind },
): Promise<void> {
  await sql`
    with planned as (update sync.runs set kind = ${run.kind} where id = ${run.runId})
    insert into sync.service (base_url, resources, noted_at)
    values (${serviceUrl(service.baseUrl)}, ${service.resources.toSorted()}::text[], ${service.at}::timestamptz)
    on conflict (id) do update set resources = excluded.resources, noted_at = excluded.noted_at`;
}

/**
 * Stores that the service has moved to another base URL. What the lists of the old one did not show says nothing of the
 * new one, so deletions that are held back wait anew. Returns the old URL, or null if unknown.
 */
export async function moveService(sql: Sql, baseUrl: URL, at: string): Promise<string | null> {
  const before = await findService(sql);
  await sql`delete from sync.missing_records where held_until is not null`;
  await sql`
    insert into sync.service (base_url, resources, noted_at) values (${serviceUrl(baseUrl)}, '{}', ${at}::timestamptz)
    on conflict (id) do update set base_url = excluded.base_url, noted_at = excluded.noted_at`;
  return before?.baseUrl ?? null;
}

/** The comment on a database that `docmirror demo` filled begins with this. The URL of the service follows. */
const MARK = "docmirror demo of ";

/** The name of the mirrored service for people: its host, or `demo`; null before the first sync. */
export const SERVICE_NAME = compose`(
  select case when starts_with(shobj_description(db.oid, 'pg_database'), ${compose.raw(`'${MARK}'`)}) then 'demo'
    else substring(base_url from '^[a-z]+://([^/]+)') end
  from sync.service, pg_database as db where datname = current_database())`;

/** The same, read. */
export async function findServiceName(sql: AnySql): Promise<string | null> {
  const named = runStatement<{ name: string | null }>(sql, compose`select ${SERVICE_NAME} as name`);
  return (await oneRow(named)).name;
}

/** The simulated service that this database mirrors, or null when `docmirror demo` did not fill it. */
export async function readDemoMark(sql: Sql): Promise<string | null> {
  const { comment } = await oneRow(
    sql<{ comment: string | null }[]>`
      select shobj_description(oid, 'pg_database') as comment from pg_database where datname = current_database()`,
  );
  return comment?.startsWith(MARK) ? comment.slice(MARK.length) : null;
}

/** Marks the database as one that the next demo may wipe. */
export async function writeDemoMark(sql: Sql, serviceUrl: string): Promise<void> {
  // COMMENT takes no parameters and no expressions, so the server quotes the values.
  const { statement } = await oneRow(
    sql<{ statement: string }[]>`
      select format('comment on database %I is %L', current_database(), ${MARK + serviceUrl}::text) as statement`,
  );
  await runText(sql, statement);
}

/** Throws ConfigError when the database is the demo's and `baseUrl` another service: ids would mix. */
export async function assertNotDemo(sql: Sql, baseUrl: URL): Promise<void> {
  const service = await withStoreErrors("read which service the database mirrors", () => readDemoMark(sql));
  if (service === null || new URL(service).href === baseUrl.href) return;
  throw new ConfigError(
    "this database holds the mirror of `docmirror demo`, and the next demo will wipe it",
    {
      hint: "use another folder for the real mirror, such as --data-dir .docmirror-real, or set DATABASE_URL",
    },
  );
}
