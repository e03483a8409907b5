import { is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";
import * as schema from "../src/store/schema/index.ts";

type Table = ReturnType<typeof getTableConfig>;
type ForeignKey = Table["foreignKeys"][number];

const TABLES = Object.values(schema)
  .filter((value) => is(value, PgTable))
  .map(getTableConfig)
  .filter((table) => /^(mirror|sync)$/.test(table.schema ?? ""))
  .toSorted((one, other) => (one.name < other.name ? -1 : 1));
/** Where the picture stands in `docs/tables.md`. */
const PLACE = /(?<=<!-- keys:begin -->\n\n)[\s\S]*?(?=\n<!-- keys:end -->)/;

/** The page with the picture of today's tables. Throws an Error where it has no place for that. */
export function withPicture(page: string): string {
  if (!PLACE.test(page)) throw new Error("docs/tables.md has no marks for the picture");
  return page.replace(PLACE, () => tablesPicture());
}

/** The tables that foreign keys tie together as a diagram of Mermaid, and below it the others, each with its key. */
function tablesPicture(): string {
  const ties = TABLES.flatMap((table) =>
    table.foreignKeys.map((key) => [targetOf(key), table, key] as const),
  );
  const tied = new Set(ties.flatMap(([target, table]) => [target.name, table.name]));
  const boxes = TABLES.filter(({ name }) => tied.has(name)).map(renderBox);
  const lines = ties.map(([target, table, key]) => renderTie(target, table, key));
  const alone = TABLES.filter(({ name }) => !tied.has(name)).map(
    (table) => `\`${table.schema}.${table.name}\` (${keyOf(table).join(", ") || "none"})`,
  );
  const diagram = ["```mermaid", "erDiagram", ...boxes, ...lines, "```"].join("\n");
  return `${diagram}\n\nNo foreign key ties the others, each with its key: ${alone.join(", ")}.\n`;
}

const targetOf = (key: ForeignKey) => getTableConfig(key.reference().foreignTable);
const columnsOf = (key: ForeignKey) => key.reference().columns.map(({ name }) => name);

function keyOf({ columns, primaryKeys }: Table): readonly string[] {
  return (primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)).map(({ name }) => name);
}

/** A table with the columns of its keys. Tables of schema `sync` say so in their names. */
function renderBox(table: Table): string {
  const key = keyOf(table);
  const foreign = table.foreignKeys.flatMap(columnsOf);
  const lines = table.columns
    .filter(({ name }) => key.includes(name) || foreign.includes(name))
    .map((column) => {
      const marks = [key.includes(column.name) && "PK", foreign.includes(column.name) && "FK"];
      const [type] = column.getSQLType().split(" ");
      return `    ${type} ${column.name} ${marks.filter(Boolean).join(", ")}`;
    });
  const title = table.schema === "sync" ? `${table.name}["sync.${table.name}"]` : table.name;
  return [`  ${title} {`, ...lines, "  }"].join("\n");
}

/** Mermaid's signs say whether a row must have its target, and how many rows a target may have. */
function renderTie(target: Table, table: Table, key: ForeignKey): string {
  const columns = columnsOf(key);
  const isSure = table.columns.filter(({ name }) => columns.includes(name)).every(({ notNull }) => notNull);
  const isOnly = keyOf(table).every((name) => columns.includes(name));
  const line = `${isSure ? "||" : "|o"}--${isOnly ? "o|" : "o{"}`;
  return `  ${target.name} ${line} ${table.name} : "${columns.join(", ")}"`;
}
