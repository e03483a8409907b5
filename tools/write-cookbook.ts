/** Writes docs/cookbook.md, with the answers of a demo that it runs, in half a minute. */
import { writeFileSync } from "node:fs";
import { startDatabaseServer } from "../test/support/database-server.ts";
import { fillDemoMirror } from "../test/support/demo-mirror.ts";
import { replaceDatabase } from "../test/support/replace-database.ts";
import { cookbookPage, DEMO_STARTS } from "./cookbook-page.ts";

const { adminUrl, template, stop } = await startDatabaseServer(process.env.TEST_DATABASE_URL);
try {
  const url = replaceDatabase(adminUrl, template);
  await fillDemoMirror(url, DEMO_STARTS);
  writeFileSync(new URL("../docs/cookbook.md", import.meta.url), await cookbookPage(url));
} finally {
  await stop();
}
