/** Writes the description of the served API, which is made from the resources and the bounds of the server. */
import { writeFileSync } from "node:fs";
import { openApi } from "./openapi.ts";

writeFileSync(new URL("../src/serve/http/description/openapi.json", import.meta.url), openApi());
