import { ConfigError } from "../errors.ts";
import type { Sql } from "./connect.ts";

/** The service that a mirror is of. Two services in one mirror would mix their records: both number them from 1. */
export interface MirroredService {
  /** Origin and path, without a closing slash and without credentials. */
  baseUrl: string;
  /** The resources that its root listing named at the last sync. */
  resources: string[];
}

/** The base URL as it tells services apart. */
export function serviceUrl(baseUrl: URL): string {
  return baseUrl.origin + baseUrl.pathname.replace(/\/+$/, "");
}

/** Null before the first sync, and in a mirror from before this was kept. */
export async function findService(sql: Sql): Promise<MirroredService | null> {
  const [service] = await sql<MirroredService[]>`
    select base_url as "baseUrl", resources from sync.service`;
  return service ?? null;
}

/** Throws `ConfigError` when the mirror is of another service. */
export async function assertService(sql: Sql, baseUrl: URL): Promise<void> {
  const service = await findService(sql);
  if (service === null || service.baseUrl === serviceUrl(baseUrl)) return;
  throw new ConfigError(
    `this mirror is of ${service.baseUrl}, and DOCMIRROR_BASE_URL is ${serviceUrl(baseUrl)}`,
    {
      hint:
        "give another database or --data-dir for another service; " +
        `if the same service moved, say so once: docmirror migrate --service ${serviceUrl(baseUrl)}`,
    },
  );
}

/**
 * Notes which service was mirrored and what its root names, at each sync. `isAdopted` where the mirror holds earlier runs, but did not say
 * of which service: then it is taken to be of this one.
 */
export async function noteService(
  sql: Sql,
  facts: { baseUrl: URL; resources: readonly string[]; runId: number; at: string },
): Promise<{ isAdopted: boolean }> {
  const baseUrl = serviceUrl(facts.baseUrl);
  const resources = [...facts.resources].sort();
  const [noted] = await sql<{ isAdopted: boolean }[]>`
    with before as (
      select not exists (select from sync.service)
        and exists (select from sync.walks where run_id < ${facts.runId} and pages > 0) as is_adopted
    )
    insert into sync.service (base_url, resources, noted_at)
    select ${baseUrl}, ${resources}::text[], ${facts.at}::timestamptz from before
    on conflict (id) do update set resources = excluded.resources, noted_at = excluded.noted_at
    returning (select is_adopted from before) as "isAdopted"`;
  return { isAdopted: noted?.isAdopted === true };
}

/** Says that the service of this mirror has moved to another base URL. Gives where it was, null where that was not known. */
export async function moveService(sql: Sql, baseUrl: URL, at: string): Promise<string | null> {
  const before = await findService(sql);
  await sql`
    insert into sync.service (base_url, resources, noted_at) values (${serviceUrl(baseUrl)}, '{}', ${at}::timestamptz)
    on conflict (id) do update set base_url = excluded.base_url, noted_at = excluded.noted_at`;
  return before?.baseUrl ?? null;
}
