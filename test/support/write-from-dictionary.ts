/** Writes `docs/data-dictionary.md`. */
import { writeFileSync } from "node:fs";
import { dictionaryPage } from "./dictionary-page.ts";

writeFileSync(new URL("../../docs/data-dictionary.md", import.meta.url), dictionaryPage());
