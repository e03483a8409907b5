import type { AnySql } from "../db/connect.ts";
import type { Resource } from "../wire/resources.ts";

/** The resources that a list is read from: its own, those embedded in it, and those that its filters can reach. */
const PARTS: Record<Resource, readonly Resource[]> = {
  user: ["user"],
  project: ["project", "user"],
  version: ["version", "project", "user"],
  file: ["file", "project", "user"],
  build: ["build", "version", "project", "user"],
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
