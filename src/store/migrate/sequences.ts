import { oneRow, type Sql, statement } from "../connection/sql.ts";

const OUR_SEQUENCES = statement<{ table: string; column: string; sequence: string; last: string }>(
  "our_sequences",
  import.meta.url,
);

/**
 * The statements that set each sequence of ours that is behind the numbers of its table. Logical replication, and some tools that copy
 * tables, take the rows and leave the sequences, so that each number is given a second time. Empty where all are right.
 */
export async function findSequenceRepairs(sql: Sql): Promise<string[]> {
  const columns = await OUR_SEQUENCES(sql);
  const repairs: string[] = [];
  for (const { table, column, sequence, last } of columns) {
    const { highest } = await oneRow(
      sql<{ highest: string }[]>`select coalesce(max(${sql(column)}), 0)::text as highest from ${sql(table)}`,
    );
    if (BigInt(highest) > BigInt(last)) repairs.push(`select setval('${sequence}', ${highest})`);
  }
  return repairs;
}
