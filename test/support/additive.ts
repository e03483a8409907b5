/**
 * The statements of a migration that an older program would not bear, by a strict rule: what it does not know
 * is not additive. Allowed are new tables without references, whatever happens to these tables afterwards, new
 * columns that may be null or have a constant default, indexes that are not unique, comments, replica identities that every
 * row has, and constraints that may be checked later where a transaction asks for it, which an older program's does not.
 */
export function findUnbearable(statements: readonly string[]): string[] {
  const made = new Set<string>();
  return statements
    .flatMap(splitStatements)
    .map((statement) => statement.replaceAll(/--.*$/gm, "").replaceAll(/\s+/g, " ").trim())
    .filter((statement) => statement !== "" && !isBearable(statement, made));
}

const NAME = `((?:"\\w+"|\\w+)\\.(?:"\\w+"|\\w+))`;
const CREATE_TABLE = new RegExp(`^create table (?:if not exists )?${NAME} \\(`, "i");
const ALTER_TABLE = new RegExp(`^alter table ${NAME} (.*)$`, "i");
const INSERT = new RegExp(`^insert into ${NAME} `, "i");
const CREATE_INDEX = new RegExp(`^create (unique )?index (?:if not exists )?"?\\w+"? on ${NAME} `, "i");
const COMMENT = /^comment on (?:table|column) /i;
/** Other defaults would be computed for each row, and rewrite the table. */
const CONSTANT = String.raw`(?:'[^']*'(?:::[\w\[\]]+)?|-?\d+(?:\.\d+)?|true|false|null|now\(\))`;
const ADD_COLUMN = new RegExp(
  String.raw`^add column (?:if not exists )?"?\w+"? [\w\[\] ]+?(?:\(\d+\)(?: with(?:out)? time zone)?)?(?: default ${CONSTANT}(?: not null)?)?$`,
  "i",
);
const BOUND_TO_OTHERS = /\breferences\b/i;
/** Part of a column that a type cannot contain. */
const MORE_THAN_A_TYPE = /\b(?:not null|unique|primary|check|generated|references|constraint|collate)\b/i;

function isBearable(statement: string, made: Set<string>): boolean {
  const table = CREATE_TABLE.exec(statement)?.[1];
  if (table !== undefined) {
    made.add(table);
    return !BOUND_TO_OTHERS.test(statement);
  }
  const [, altered = "", action = ""] = ALTER_TABLE.exec(statement) ?? [];
  if (altered !== "") {
    if (made.has(altered)) return !BOUND_TO_OTHERS.test(action);
    if (/^replica identity full$/i.test(action)) return true;
    if (/^alter constraint "\w+" deferrable initially immediate$/i.test(action)) return true;
    return ADD_COLUMN.test(action) && !MORE_THAN_A_TYPE.test(action.replace(/ default .*$/i, ""));
  }
  const index = CREATE_INDEX.exec(statement);
  if (index) return index[1] === undefined || made.has(index[2] ?? "");
  const filled = INSERT.exec(statement)?.[1];
  if (filled !== undefined) return made.has(filled);
  return COMMENT.test(statement);
}

/** At semicolons outside of quotes. A function's body is never additive, so that dollars need no care. */
function splitStatements(text: string): string[] {
  return text.match(/(?:'[^']*'|--.*|[^;'])+/g) ?? [];
}
