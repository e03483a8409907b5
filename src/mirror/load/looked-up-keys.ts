import type { Resource } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { KnownKeys } from "./known-keys.ts";
import { RECORD_TABLES } from "./tables.ts";

/**
 * Known keys for a run that loads only a few pages. It looks up only the references of each page. Its
 * knowledge is never complete, so `isNew` is always false and every record is looked up.
 */
export function createLookedUpKeys(sql: Sql): KnownKeys {
  const here = new Map<Resource, Set<string>>();
  const idsOf = (resource: Resource): Set<string> => {
    const ids = here.get(resource) ?? new Set();
    here.set(resource, ids);
    return ids;
  };

  return {
    async prepare(references) {
      const wanted = new Map<Resource, string[]>();
      for (const reference of references) {
        if (reference.kind !== "record" || idsOf(reference.resource).has(reference.key)) continue;
        wanted.set(reference.resource, [...(wanted.get(reference.resource) ?? []), reference.key]);
      }
      for (const [resource, keys] of wanted) {
        const { table } = RECORD_TABLES[resource];
        const rows = await runStatement<{ id: string }>(
          sql,
          compose`select ${table.id} from ${table} where ${table.id} = any (${compose.param(keys)}::text[])`,
        );
        for (const { id } of rows) idsOf(resource).add(id);
      }
    },
    resolve: (reference) =>
      reference.kind === "record" && idsOf(reference.resource).has(reference.key) ? reference.key : null,
    isNew: () => false,
    add() {},
    drop() {},
    commit() {},
    rollback() {},
  };
}
