import type { Sql } from "../connection/sql.ts";

/**
 * The statements that set each sequence of ours that is behind the numbers of its table. Logical replication, and some tools that copy
 * tables, take the rows and leave the sequences, so that each number is given a second time. Empty where all are right.
 */
export async function findSequenceRepairs(sql: Sql): Promise<string[]> {
  const columns = await sql<{ table: string; column: string; sequence: string; last: string }[]>`
    select nspname || '.' || relname as table, attname as column, sequence,
      coalesce(pg_sequence_last_value(sequence::regclass), 0)::text as last
    from pg_attribute
    join pg_class as relation on relation.oid = attrelid
    join pg_namespace as space on space.oid = relnamespace
    cross join lateral pg_get_serial_sequence(format('%I.%I', nspname, relname), attname) as sequence
    where nspname in ('mirror', 'sync') and attidentity <> '' and relkind = 'r'
      and has_table_privilege(relation.oid, 'select') and has_sequence_privilege(sequence, 'usage, select')
    order by 1`;
  const repairs: string[] = [];
  for (const { table, column, sequence, last } of columns) {
    const [row] = await sql<{ highest: string }[]>`
      select coalesce(max(${sql(column)}), 0)::text as highest from ${sql(table)}`;
    const highest = row?.highest ?? "0";
    if (BigInt(highest) > BigInt(last)) repairs.push(`select setval('${sequence}', ${highest})`);
  }
  return repairs;
}
