/** Writes the datasets of deploy/superset, whose types a migrated database knows. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { replaceDatabase, withSql } from "../../src/db/connect.ts";
import { startDatabaseServer } from "./database-server.ts";
import { supersetFiles } from "./superset-datasets.ts";

const FOLDER = new URL("../../deploy/superset/", import.meta.url);

const { adminUrl, template, stop } = await startDatabaseServer(process.env.TEST_DATABASE_URL);
try {
  const url = replaceDatabase(adminUrl, template);
  const files = await withSql(url, { applicationName: "docmirror docs", max: 1 }, supersetFiles);
  rmSync(FOLDER, { recursive: true, force: true });
  for (const [path, text] of files) {
    mkdirSync(new URL(".", new URL(path, FOLDER)), { recursive: true });
    writeFileSync(new URL(path, FOLDER), text);
  }
} finally {
  await stop();
}
