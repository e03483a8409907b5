import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { grantReader, planReaderGrant } from "../../src/report/grant-reader.ts";
import { withSnapshot } from "../../src/report/read-answer.ts";
import { becomeReader, readStatement } from "../../src/report/read-statement.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { cookbookPage, DEMO_STARTS } from "../../tools/cookbook-page.ts";
import { QUESTIONS } from "../../tools/cookbook-questions.ts";
import { createTestDatabase } from "../support/database.ts";
import { fillDemoMirror } from "../support/demo-mirror.ts";

const page = readFileSync(new URL("../../docs/cookbook.md", import.meta.url), "utf8");

describe("docs/cookbook.md", () => {
  it("has fifteen questions, each with its statement, which a reader may run, also where there is no answer", async () => {
    expect(QUESTIONS).toHaveLength(15);
    await using database = await createTestDatabase();
    const role = `docmirror_test_cook_${randomBytes(4).toString("hex")}`;
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      await grantReader(sql, await planReaderGrant(sql, role));
      try {
        for (const { asks, sql: text } of QUESTIONS) {
          expect(page).toContain(`## ${asks}\n\n\`\`\`sql\n${text};\n`);
          await withSnapshot(sql, async (tx) => {
            await becomeReader(tx, { role, timeoutMs: 60_000 });
            for await (const { columns } of readStatement(tx, text))
              expect(columns.length).toBeGreaterThan(2);
          });
        }
      } finally {
        await sql.unsafe(`drop owned by ${role}; drop role ${role}`);
      }
    });
  });

  it("has the answers of a demo; `npm run docs:cookbook` writes them", {
    tags: ["long"],
    timeout: 600_000,
  }, async () => {
    await using database = await createTestDatabase();
    await fillDemoMirror(database.url, DEMO_STARTS);
    expect(await cookbookPage(database.url)).toBe(page);
  });
});
