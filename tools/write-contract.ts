/** Writes the page of names that others rely on, and the page of metrics. */
import { writeFileSync } from "node:fs";
import { contractPage } from "./contract-page.ts";
import { metricsPage } from "./metrics-page.ts";

writeFileSync(new URL("../docs/contract.md", import.meta.url), await contractPage());
writeFileSync(new URL("../docs/metrics.md", import.meta.url), await metricsPage());
