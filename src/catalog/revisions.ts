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
  /** When the list last changed, by the clock of the database. */
  changedAt: string;
}

/** The revision of a list, from the rows that triggers keep (`sync.revisions`). */
export async function readRevision(sql: AnySql, resource: Resource): Promise<ListRevision> {
  const [found] = await sql.unsafe<{ revision: string; changed_at: string }[]>(
    `select sum(revision)::text as revision, max(changed_at) as changed_at
     from sync.revisions where resource = any ($1::text[])`,
    [[...PARTS[resource]]],
  );
  if (!found?.changed_at) throw new Error(`sync.revisions has no row for ${resource}`);
  return { revision: found.revision, changedAt: found.changed_at };
}
