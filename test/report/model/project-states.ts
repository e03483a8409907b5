/** How each project stands: the model of `report.project_states`. */

import { type Fact, UNKNOWN_ID } from "./facts.ts";
import { byProject, isRated, type Row, rateOf } from "./rates.ts";
import type { Raw } from "./raw.ts";
import { failingNow } from "./series.ts";
import { momentText } from "./times.ts";

export function projectStates({ projects }: Raw, facts: readonly Fact[]): Row[] {
  const failing = failingNow(facts);
  const factsOf = byProject(facts);
  return projects
    .filter(({ id, isDeleted }) => !isDeleted && id !== UNKNOWN_ID)
    .map(({ id, slug, name }) => {
      const own = factsOf.get(id) ?? [];
      const fails = failing.filter(({ project_id }) => project_id === id);
      const main = fails.filter(({ is_main }) => is_main === true);
      const isKnown = own.some((fact) => isRated(fact) && !fact.version.isDeleted);
      const moments = own.flatMap(({ at }) => (at === null ? [] : [at]));
      return {
        project_id: id,
        project_slug: slug ?? id,
        project_name: name ?? slug ?? id,
        state: main.length > 0 ? "main_failing" : fails.length > 0 ? "failing" : isKnown ? "good" : "unknown",
        failing: fails.length,
        failing_since: newest(fails),
        main_failing_since: newest(main),
        stuck: own.filter(({ outcome }) => outcome === "stuck").length,
        ...rateOf(own),
        last_triggered_at: moments.length === 0 ? null : momentText(Math.max(...moments)),
      };
    });
}

/** Texts of moments sort by time. */
function newest(fails: readonly Row[]): string | null {
  const moments = fails.flatMap(({ failing_since }) =>
    failing_since === null ? [] : [String(failing_since)],
  );
  return moments.toSorted().at(-1) ?? null;
}
