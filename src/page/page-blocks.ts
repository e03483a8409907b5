import type { BlockSpec } from "./block.ts";
import { PROJECT } from "./cells.ts";
import { dailyBlocks } from "./daily-blocks.ts";
import { SYNCS } from "./run-strip.ts";
import * as series from "./series-blocks.ts";

/** What the page of all projects shows. */
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

/** The same for one project, as far as it can be told of one. */
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

/** On the page of a project a column that names it would say nothing; the next one names the row then. */
function withoutProject(spec: BlockSpec): BlockSpec {
  const [first, ...others] = spec.columns.filter((column) => column !== PROJECT);
  return first === undefined ? spec : { ...spec, columns: [{ ...first, isName: true }, ...others] };
}
