/** Writes what is made from the dictionary of the reports. The types of columns are those of a migrated database. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { withSql } from "../src/store/connection/connect.ts";
import { startDatabaseServer } from "../test/support/database-server.ts";
import { replaceDatabase } from "../test/support/replace-database.ts";
import { dbtModels, dbtSources } from "./dbt-sources.ts";
import { dictionaryPage, questionsTable } from "./dictionary-page.ts";
import { supersetFiles } from "./superset-datasets.ts";

const DEPLOY = new URL("../deploy/", import.meta.url);
const SUPERSET = new URL("superset/", DEPLOY);

writeFileSync(new URL("../docs/data-dictionary.md", import.meta.url), dictionaryPage());
const reports = new URL("../docs/reports.md", import.meta.url);
writeFileSync(
  reports,
  readFileSync(reports, "utf8").replace(/^\| question \| relation \|\n(?:\|.*\n)*/m, () => questionsTable()),
);
writeFileSync(new URL("dbt/models/report/sources.yml", DEPLOY), dbtSources());
writeFileSync(new URL("dbt/models/files/properties.yml", DEPLOY), dbtModels());

const { adminUrl, template, stop } = await startDatabaseServer(process.env.TEST_DATABASE_URL);
try {
  const url = replaceDatabase(adminUrl, template);
  const files = await withSql(url, { applicationName: "docmirror docs", max: 1 }, supersetFiles);
  rmSync(SUPERSET, { recursive: true, force: true });
  for (const [path, text] of files) {
    const place = new URL(path, SUPERSET);
    mkdirSync(new URL(".", place), { recursive: true });
    writeFileSync(place, text);
  }
} finally {
  await stop();
}
