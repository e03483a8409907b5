import { printAnswer } from "../src/cli/output/answer-writer.ts";
import { type AnswerRow, withSnapshot } from "../src/report/read-answer.ts";
import { readStatement } from "../src/report/read-statement.ts";
import { withSql } from "../src/store/connection/connect.ts";
import type { Sql } from "../src/store/connection/sql.ts";
import { QUESTIONS } from "./cookbook-questions.ts";

/** When the demo of the cookbook begins; it lasts a day. */
export const DEMO_STARTS = new Date("2026-11-01T09:00:00Z");

/** `docs/cookbook.md`: each question with its statement, and its answer on the mirror of the demo. */
export async function cookbookPage(databaseUrl: string): Promise<string> {
  const sections = await withSql(databaseUrl, { applicationName: "docmirror docs", max: 1 }, async (sql) => {
    const found: string[] = [];
    for (const { asks, sql: text, note } of QUESTIONS) {
      const answer = await answerOf(sql, text);
      found.push(
        `## ${asks}\n\n\`\`\`sql\n${text};\n\`\`\`\n\n\`\`\`\n${answer}\`\`\`\n${note === undefined ? "" : `\n${note}\n`}`,
      );
    }
    return found;
  });
  return `# Cookbook

For analysts: what is asked first, each question as one statement. [reports.md](reports.md) says what the words mean. Run a statement by
\`docmirror sql "…"\`, in psql or in a BI tool.

The answers are those of a demo (\`npm run demo\`) of 2 November 2026; today's has other days, and so other figures. \`npm run docs:cookbook\`
writes this page from \`tools/cookbook-questions.ts\`, and a test compares both.

${sections.join("\n")}`;
}

/** As `docmirror sql` prints it into a file. */
async function answerOf(sql: Sql, text: string): Promise<string> {
  let printed = "";
  const out = {
    isTty: false,
    colour: false,
    columns: undefined,
    write: async (part: string) => {
      printed += part;
    },
    json: async () => {},
  };
  await withSnapshot(sql, async (tx) => {
    const all: AnswerRow[] = [];
    let columns: readonly string[] = [];
    for await (const batch of readStatement(tx, text)) {
      ({ columns } = batch);
      all.push(...batch.rows);
    }
    await printAnswer([all], { format: "table", columns, facts: {} }, out);
  });
  return printed;
}
