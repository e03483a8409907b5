/** Writes the page of names that others rely on. */
import { writeFileSync } from "node:fs";
import { contractPage } from "./contract-page.ts";

writeFileSync(new URL("../../docs/contract.md", import.meta.url), await contractPage());
