import type { Resource } from "../../resources/resources.ts";
import type { AnySql } from "../connection/sql.ts";

/** A field that differs from reply to reply, so that each reading finds its records changed. */
export interface UnsteadyField {
  resource: Resource;
  field: string;
}

/** Those that runs have named, in the order of their names. */
export async function findUnsteady(sql: AnySql): Promise<UnsteadyField[]> {
  return sql<UnsteadyField[]>`
    select distinct resource, field from sync.drift where kind = 'unsteady' order by resource, field`;
}

/** For people, with the setting that leaves it out. */
export const describeUnsteady = ({ resource, field }: UnsteadyField) =>
  `the field ${field} of ${resource}s differs from reply to reply, so each reading takes it for a change: ` +
  `DOCMIRROR_IGNORED_FIELDS=${resource}.${field} leaves it out of comparison and history`;
