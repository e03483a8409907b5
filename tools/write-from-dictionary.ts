/** Writes what is made from the dictionary of the reports. The types of columns are those of a migrated database. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { replaceDatabase, withSql } from "../src/store/connection/connect.ts";
import { startDatabaseServer } from "../test/support/database-server.ts";
import { dbtModels, dbtSources } from "./dbt-sources.ts";
import { dictionaryPage } from "./dictionary-page.ts";
import { supersetFiles } from "./superset-datasets.ts";

const DEPLOY = new URL("../deploy/", import.meta.url);
const SUPERSET = new URL("superset/", DEPLOY);

writeFileSync(new URL("../docs/data-dictionary.md", import.meta.url), dictionaryPage());
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
