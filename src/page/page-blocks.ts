import type { BlockSpec } from "./block.ts";
import { PROJECT } from "./cells.ts";
import { dailyBlocks } from "./daily-blocks.ts";
import { SYNCS } from "./run-strip.ts";
import * as series from "./series-blocks.ts";

/** The blocks of the page of all projects. */
export const OVERVIEW: readonly BlockSpec[] = [
  SYNCS,
  ...dailyBlocks("all"),
  series.FAILING_NOW,
  series.BROKE,
  series.RECOVERED,
  series.ERROR_CLASSES,
  series.STUCK_BUILDS,
  series.OPEN_BUILDS,
  series.INSTABILITY,
  series.INCIDENT_HOURS,
  series.BY_PROJECT,
  series.BY_TYPE,
  series.FRESHNESS,
];

/** The blocks of a project's page. */
export const OF_PROJECT: readonly BlockSpec[] = [
  ...dailyBlocks("project"),
  series.FAILING_NOW,
  series.BROKE,
  series.RECOVERED,
  series.LAST_FAILURES,
  series.STUCK_BUILDS,
  series.OPEN_BUILDS,
  series.INSTABILITY,
  series.BY_VERSION,
  series.LAST_BUILDS,
].map(withoutProject);

/** On the page of a project the project column says nothing. The next column names the row there. */
function withoutProject(spec: BlockSpec): BlockSpec {
  const [first, ...others] = spec.columns.filter((column) => column !== PROJECT);
  return first === undefined ? spec : { ...spec, columns: [{ ...first, isName: true }, ...others] };
}
