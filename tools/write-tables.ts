/** Draws the tables and their keys into `docs/tables.md`. */
import { readFileSync, writeFileSync } from "node:fs";
import { withPicture } from "./tables-picture.ts";

const page = new URL("../docs/tables.md", import.meta.url);
writeFileSync(page, withPicture(readFileSync(page, "utf8")));
