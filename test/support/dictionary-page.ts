import { DICTIONARY, type RelationEntry } from "../../src/db/report-dictionary.ts";

/** `docs/data-dictionary.md`, from the dictionary. */
export function dictionaryPage(): string {
  const entries = Object.entries<RelationEntry>(DICTIONARY);
  const contents = entries.map(([name, { answers }]) => `- [${name}](#${name}): ${answers}`);
  const sections = entries.map(([name, { answers, columns }]) => {
    const rows = Object.entries(columns).map(([column, means]) => `| \`${column}\` | ${cell(means)} |`);
    return `## ${name}\n\n${answers}\n\n| column | meaning |\n| --- | --- |\n${rows.join("\n")}\n`;
  });
  return `# Data dictionary

What every relation and column of schema \`report\` means. The same words are comments in the database, so that BI tools show them, and rows of
\`report.data_dictionary\`. This page is made from \`src/db/report-dictionary.ts\` by \`npm run docs:dictionary\`.

${contents.join("\n")}

${sections.join("\n")}`;
}

const cell = (text: string) => text.replaceAll("|", "\\|");
