/** Writes `.env.example` and the page of settings, which are made from SETTINGS. */
import { writeFileSync } from "node:fs";
import { envExample } from "./env-example.ts";
import { settingsPage } from "./settings-page.ts";

writeFileSync(new URL("../.env.example", import.meta.url), envExample());
writeFileSync(new URL("../docs/settings.md", import.meta.url), await settingsPage());
