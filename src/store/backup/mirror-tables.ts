import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import { statement, type TransactionSql } from "../connection/sql.ts";
import * as schema from "../schema/index.ts";
import type { BackedUpTable } from "./read-backup.ts";

const OUR_TABLES = statement<StoredTable>("our_tables", import.meta.url);

/** A table of this version of docmirror. */
export interface MirrorTable extends BackedUpTable {
  /** Its column that the server numbers. */
  identity: string | undefined;
}

interface Described extends MirrorTable {
  refersTo: string[];
}

/**
 * All tables with data of this version of docmirror, each after those that it refers to. Generated columns are left
 * out, because nobody can write them.
 */
export function mirrorTables(stored: readonly PgTable[]): MirrorTable[] {
  const left = [...Object.values(schema), ...stored]
    .filter((one) => is(one, PgTable))
    .map((table) => describe(table as PgTable))
    // `migrate` writes them for the place where it runs.
    .filter(({ name }) => name !== "sync.definitions");
  const ordered: Described[] = [];
  while (left.length > 0) {
    const next = left.findIndex(({ name, refersTo }) =>
      refersTo.every((other) => other === name || ordered.some((done) => done.name === other)),
    );
    const [table] = left.splice(next, 1);
    if (next === -1 || table === undefined) throw new Error("the references of the tables make a circle");
    ordered.push(table);
  }
  return ordered.map(({ name, columns, identity }) => ({ name, columns, identity }));
}

function describe(table: PgTable): Described {
  const config = getTableConfig(table);
  const written = config.columns.filter(({ generated }) => generated === undefined);
  return {
    name: `${config.schema}.${config.name}`,
    columns: written.map(({ name }) => name),
    identity: config.columns.find(({ generatedIdentity }) => generatedIdentity !== undefined)?.name,
    refersTo: config.foreignKeys.map((key) => {
      const other = getTableConfig(key.reference().foreignTable);
      return `${other.schema}.${other.name}`;
    }),
  };
}

/** A table as the catalog of a database has it. */
export interface StoredTable extends BackedUpTable {
  schema: string;
  /** As SQL names it. */
  quoted: string;
}

/** The tables of our schemas in a database, with the columns that can be written. */
export function findTables(tx: TransactionSql): Promise<StoredTable[]> {
  return OUR_TABLES(tx);
}

export const quoteName = (name: string): string => `"${name.replaceAll('"', '""')}"`;
export const quoteTable = (name: string): string => name.split(".").map(quoteName).join(".");
