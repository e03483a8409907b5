/** Writes `.env.example`, which is made from SETTINGS. */
import { writeFileSync } from "node:fs";
import { envExample } from "../../src/config/env-example.ts";

writeFileSync(new URL("../../.env.example", import.meta.url), envExample());
