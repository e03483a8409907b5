import type { AnySql } from "../db/connect.ts";
import type { Resource } from "../wire/resources.ts";

/** The tables that a list's records are read from. */
const PARTS: Record<Resource, readonly Resource[]> = {
  user: ["user"],
  project: ["project"],
  version: ["version", "project"],
  file: ["file", "project"],
  build: ["build"],
};

export interface ListRevision {
  /** Equal revisions of a list mean equal lists. */
  revision: string;
  /** When the list last changed, by the clock of the database. Null while the mirror is empty. */
  changedAt: string | null;
}

/** The revision of a list, from the rows that triggers keep (`sync.revisions`). */
export async function readRevision(sql: AnySql, resource: Resource): Promise<ListRevision> {
  const [found] = await sql.unsafe<{ revision: string | null; changed_at: string | null }[]>(
    `select sum(revision)::text as revision, max(changed_at) as changed_at
     from sync.revisions where resource = any ($1::text[])`,
    [[...PARTS[resource]]],
  );
  return { revision: found?.revision ?? "0", changedAt: found?.changed_at ?? null };
}
