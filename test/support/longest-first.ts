import { BaseSequencer, type TestSpecification } from "vitest/node";
import { createRandom } from "../../src/simulate/random.ts";

/**
 * Files that take a minute and more with their long tests, and one that waits for leases to end: the longest one first. Were one of them the
 * last to begin, the others would wait for it alone.
 */
const LONGEST = [
  "deploy/compose",
  "deploy/image",
  "deploy/spark-merge",
  "mirror/walk/rounds",
  "mirror/walk/schedules",
  "report/refresh/refresh-model",
  "page/page-in-browser",
  "store/connection/poolers",
  "mirror/run/fault-matrix",
  "cli/demo/demo-command",
  "deploy/dbt-engines",
  "docs/commands",
  "docs/scale",
  "upgrade/next-release",
  "store/migrate/migrate",
  "mirror/run/innocent-service",
  "report/export/incremental",
  "cli/global-install",
  "cli/sync/sync-command",
  "store/embedded/embedded",
  "store/ledger/leases",
  "cli/worker/several-workers",
  "mirror/lists/page-sizes",
  "mirror/builds/source-zone",
];

/** The files in random order, behind those that take longest. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const random = createRandom(this.ctx.config.sequence.seed);
    const place = ({ moduleId }: TestSpecification) => {
      const at = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return at < 0 ? LONGEST.length + random.next() : at;
    };
    const placed = files.map((file) => [place(file), file] as const);
    return placed.toSorted(([one], [other]) => one - other).map(([, file]) => file);
  }
}
