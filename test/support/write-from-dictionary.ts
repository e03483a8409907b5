/** Writes what is made from the dictionary of the reports. */
import { writeFileSync } from "node:fs";
import { dbtModels, dbtSources } from "./dbt-sources.ts";
import { dictionaryPage } from "./dictionary-page.ts";

writeFileSync(new URL("../../docs/data-dictionary.md", import.meta.url), dictionaryPage());
writeFileSync(new URL("../../deploy/dbt/models/report/sources.yml", import.meta.url), dbtSources());
writeFileSync(new URL("../../deploy/dbt/models/files/properties.yml", import.meta.url), dbtModels());
