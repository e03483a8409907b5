import type { Sql } from "../db/connect.ts";
import type { Reference } from "../wire/resource-uri.ts";
import type { Resource } from "../wire/resources.ts";

/** The resources that others refer to. */
export const REFERRED = ["user", "project", "version"] as const;
export type Referred = (typeof REFERRED)[number];

/** A set that forgets what was added since the last commit when the transaction fails. */
export interface KnownKeys {
  /** The id to store as key for a reference, or null while the record is not here. */
  resolve(reference: Reference): string | null;
  has(resource: Referred, id: string): boolean;
  /** Notes a row that this transaction adds. */
  add(resource: Resource, id: string): void;
  commit(): void;
  rollback(): void;
}

/** What stores ids; `walk` has one that takes little memory. */
interface Ids {
  add(id: string): boolean;
  has(id: string): boolean;
}

/**
 * Knows which users, projects and versions are in the mirror, so that a page's references become keys without a query. Rows are
 * never removed from these tables, so an id that is known stays true.
 */
export async function createKnownKeys(sql: Sql, createIds: () => Ids): Promise<KnownKeys> {
  const known: Record<Referred, Ids> = { user: createIds(), project: createIds(), version: createIds() };
  for (const resource of REFERRED) {
    const rows = sql.unsafe<{ id: string }[]>(`select id from mirror.${resource}s`).cursor(5000);
    for await (const batch of rows) for (const { id } of batch) known[resource].add(id);
  }
  let pending: Record<Referred, Set<string>> = { user: new Set(), project: new Set(), version: new Set() };
  const isReferred = (resource: Resource): resource is Referred => resource in known;
  const has = (resource: Referred, id: string) => known[resource].has(id) || pending[resource].has(id);

  return {
    resolve: (reference) =>
      reference.kind === "record" && isReferred(reference.resource) && has(reference.resource, reference.key)
        ? reference.key
        : null,
    has,
    add(resource, id) {
      if (isReferred(resource)) pending[resource].add(id);
    },
    commit() {
      for (const resource of REFERRED) for (const id of pending[resource]) known[resource].add(id);
      pending = { user: new Set(), project: new Set(), version: new Set() };
    },
    rollback() {
      pending = { user: new Set(), project: new Set(), version: new Set() };
    },
  };
}
