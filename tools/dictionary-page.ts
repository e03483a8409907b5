import { DICTIONARY } from "../src/report/dictionary.ts";
import { RATE, SERIES_COLUMNS } from "../src/report/relations/column-sentences.ts";
import { PEOPLE } from "../src/report/relations/people.ts";
import type { RelationEntry } from "../src/store/migrate/report-comments.ts";

/** Columns that stand together in many relations. They are named as one. */
const GROUPS: readonly { name: string; columns: RelationEntry["columns"] }[] = [
  { name: "Series", columns: SERIES_COLUMNS },
  { name: "Rates", columns: RATE },
];

/** From how many relations on a column of one meaning is explained once for all. */
const MANY = 2;

/** `docs/data-dictionary.md`, from the dictionary. What a column means in several relations is said once. */
export function dictionaryPage(): string {
  const relations = Object.entries<RelationEntry>(DICTIONARY);
  const first = new Map<RelationEntry["columns"], string>();
  for (const [name, { columns }] of relations) if (!first.has(columns)) first.set(columns, name);
  const uses = new Map<string, number>();
  for (const line of [...first.keys()].flatMap(linesOf)) uses.set(line, (uses.get(line) ?? 0) + 1);
  const grouped = new Set(GROUPS.flatMap(({ columns }) => linesOf(columns)));
  // A name that means two things is explained in each relation, or nobody could tell which of them it has.
  const meanings = new Map<string, number>();
  for (const line of new Set([...uses.keys(), ...grouped]))
    if (grouped.has(line) || (uses.get(line) ?? 0) >= MANY)
      meanings.set(nameOf(line), (meanings.get(nameOf(line)) ?? 0) + 1);
  const isShared = (line: string) =>
    grouped.has(line) || ((uses.get(line) ?? 0) >= MANY && meanings.get(nameOf(line)) === 1);

  const linesFor = (name: string, columns: RelationEntry["columns"]): string => {
    const twin = first.get(columns) ?? name;
    if (twin !== name) return `- as in [${twin}](#${twin})`;
    const lines = linesOf(columns);
    const groups = GROUPS.filter((group) => linesOf(group.columns).every((line) => lines.includes(line)));
    const inGroups = new Set(groups.flatMap((group) => linesOf(group.columns)));
    const shared = Object.entries(columns).filter((column) => {
      const line = lineOf(column);
      return isShared(line) && !inGroups.has(line);
    });
    const names = [
      ...groups.map((group) => `[${group.name.toLowerCase()}](#${group.name.toLowerCase()})`),
      ...shared.map(([column]) => `\`${column}\``),
    ].join(", ");
    const own = lines.filter((line) => !isShared(line));
    return (names === "" ? own : [...own, `- and ${names}`]).join("\n");
  };

  const sections = relations.map(
    ([name, { answers, columns }]) => `## ${name}\n\n${answers}\n\n${linesFor(name, columns)}\n`,
  );
  const groups = GROUPS.map(({ name, columns }) => `### ${name}\n\n${linesOf(columns).join("\n")}\n`);
  const others = [...uses.keys()].filter((line) => isShared(line) && !grouped.has(line));
  return `# Data dictionary

For authors of queries and dashboards: every relation and column of schemas \`report\` and [\`report_people\`](#people). The same sentences are
comments in the database, and those of \`report\` rows of \`report.data_dictionary\`. \`npm run docs:dictionary\` writes this page from
\`src/report/dictionary.ts\`.

**Before you join**: \`dim_projects\` and \`dim_versions\` keep what was deleted, and have a row \`-1\` for what is not known. Count projects
\`where not is_deleted and project_id <> '-1'\`.

**Null and empty**: a column is null only where its sentence says so, or that of \`is_covered\`. No text is empty unless its sentence says so.

## Columns of several relations

The last line of a relation names those of them that it has.

${others.join("\n")}

${groups.join("\n")}
${sections.join("\n")}
## People

Schema \`report_people\` is only for a role of \`docmirror grant-reader ROLE --with-people\`. Ask it by \`docmirror sql --role ROLE\`; its relations join
those of \`report\` by \`project_id\`.

${Object.entries<RelationEntry>(PEOPLE).map(ofPeople).join("\n")}`;
}

/** A relation of people, without the columns of the relation of `report` that it continues. */
function ofPeople([name, { answers, columns }]: [string, RelationEntry]): string {
  const continued =
    Object.entries<RelationEntry>(DICTIONARY).find(([other]) => other === name)?.[1].columns ?? {};
  const own = linesOf(columns).filter((line) => !linesOf(continued).includes(line));
  const rest = name in DICTIONARY ? [`- and the columns of [${name}](#${name})`] : [];
  return `### report_people.${name}\n\n${answers}\n\n${[...own, ...rest].join("\n")}\n`;
}

/** The table of `docs/reports.md`: the question of each relation. */
export function questionsTable(): string {
  const rows = Object.entries<RelationEntry>(DICTIONARY).map(([name, { answers }]) => {
    const [question] = /^[^?]*\?|^[^:]*/.exec(answers) ?? [answers];
    return `| ${question} | [\`${name}\`](data-dictionary.md#${name}) |`;
  });
  return ["| question | relation |", "| --- | --- |", ...rows, ""].join("\n");
}

const lineOf = ([column, means]: readonly [string, string]) => `- \`${column}\`: ${means}`;
const nameOf = (line: string) => line.slice(0, line.indexOf(":"));
const linesOf = (columns: RelationEntry["columns"]) => Object.entries(columns).map(lineOf);
