import { grouped } from "../../base/text.ts";
import type { Resource } from "../../resources/resources.ts";
import type { AnySql, Sql } from "../connection/sql.ts";

/** The comparison of a record with the service. `denied`: the service's list shows it, and its detail says that there is none. */
export type CheckVerdict = "equal" | "wrong" | "changed" | "unclear" | "denied";

/** A record that differed, which the next check looks at again. */
export interface Suspect {
  resource: Resource;
  id: string;
  verdict: CheckVerdict;
  /** Since when the service shows it so, and the hash of that; null where it shows none. */
  at: string;
  hash: string | null;
  fields: string[];
}

/** In few words what is wrong with a suspect: its fields, or which side lacks it. */
export function describeFault({ fields, hash }: Pick<Suspect, "fields" | "hash">): string {
  if (fields.length > 0) return fields.join(", ");
  return hash === null ? "the service has none" : "missing here";
}

/** The result of a check for one list, or for all. `checked` are those that are equal or wrong. */
export type CheckedList = Record<"records" | "checked" | CheckVerdict, number>;

/** Among the suspects those that are wrong come first. */
export interface Check {
  lists: Partial<Record<Resource, CheckedList>>;
  suspects: readonly Suspect[];
}

export async function noteCheck(sql: Sql, { lists, suspects }: Check): Promise<void> {
  await sql`
    insert into sync.checks (lists, suspects)
    values (${JSON.stringify(lists)}::text::jsonb, ${JSON.stringify(suspects)}::text::jsonb)`;
}

/** For people: the records that the service's lists show, and that their details deny. */
export function describeDenied(denied: readonly Pick<Suspect, "resource" | "id">[]): string {
  const [first] = denied;
  const more = denied.length > 1 ? ` and ${grouped(denied.length - 1)} more` : "";
  return `the service shows ${first?.resource} ${first?.id}${more} in its list, and answers that there is none where its detail is asked for`;
}

/** Those that the newest check left. */
export async function findSuspects(sql: AnySql): Promise<Suspect[]> {
  const [row] = await sql<
    { suspects: Suspect[] }[]
  >`select suspects from sync.checks order by id desc limit 1`;
  return row?.suspects ?? [];
}
