import { DICTIONARY, type RelationEntry } from "../../src/db/report-dictionary.ts";

/** From how many relations on a column of one meaning is explained once for all. */
const MANY = 3;

/** `docs/data-dictionary.md`, from the dictionary. What a column means in many relations is said once. */
export function dictionaryPage(): string {
  const relations = Object.entries<RelationEntry>(DICTIONARY);
  const uses = new Map<string, number>();
  for (const line of relations.flatMap(([, { columns }]) => linesOf(columns))) {
    uses.set(line, (uses.get(line) ?? 0) + 1);
  }
  const isShared = (line: string) => (uses.get(line) ?? 0) >= MANY;
  const sections = relations.map(([name, { answers, columns }]) => {
    const own = linesOf(columns).filter((line) => !isShared(line));
    const shared = Object.entries(columns).filter((column) => isShared(lineOf(column)));
    const names = shared.map(([column]) => `\`${column}\``).join(", ");
    const lines = names === "" ? own : [...own, `- as [in many](#columns-of-many-relations): ${names}`];
    return `## ${name}\n\n${answers}\n\n${lines.join("\n")}\n`;
  });
  return `# Data dictionary

For authors of queries and dashboards: every relation and column of schema \`report\`. The same sentences are comments in the database and rows of
\`report.data_dictionary\`. \`npm run docs:dictionary\` writes this page from \`src/db/report-dictionary.ts\`.

## Columns of many relations

${[...uses.keys()].filter(isShared).join("\n")}

${sections.join("\n")}`;
}

const lineOf = ([column, means]: readonly [string, string]) => `- \`${column}\`: ${means}`;
const linesOf = (columns: RelationEntry["columns"]) => Object.entries(columns).map(lineOf);
