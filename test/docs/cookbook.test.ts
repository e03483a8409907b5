import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { withSql } from "../../src/store/connection/connect.ts";
import { cookbookPage, DEMO_STARTS } from "../../tools/cookbook-page.ts";
import { QUESTIONS } from "../../tools/cookbook-questions.ts";
import { createTestDatabase } from "../support/database.ts";
import { fillDemoMirror } from "../support/demo-mirror.ts";

const page = readFileSync(new URL("../../docs/cookbook.md", import.meta.url), "utf8");

describe("docs/cookbook.md", () => {
  it("has fifteen questions, each with its statement, which runs on an empty mirror too", async () => {
    expect(QUESTIONS).toHaveLength(15);
    await using database = await createTestDatabase();
    await withSql(database.url, { applicationName: "docmirror test", max: 1 }, async (sql) => {
      for (const { asks, sql: text } of QUESTIONS) {
        expect(page).toContain(`## ${asks}\n\n\`\`\`sql\n${text};\n`);
        await sql.unsafe(text);
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
