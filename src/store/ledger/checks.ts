import type { Resource } from "../../resources/resources.ts";
import type { AnySql, Sql } from "../connection/sql.ts";

/** The comparison of a record with the service. */
export type CheckVerdict = "equal" | "wrong" | "changed" | "unclear";

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

/** Those that the newest check left. */
export async function findSuspects(sql: AnySql): Promise<Suspect[]> {
  const [row] = await sql<
    { suspects: Suspect[] }[]
  >`select suspects from sync.checks order by id desc limit 1`;
  return row?.suspects ?? [];
}
