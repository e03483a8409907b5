import { sql } from "drizzle-orm";
import { inline, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, questionsOf } from "../parts/answers.ts";
import { KNOWN_WITHIN_S } from "../parts/bounds.ts";
import type { PageMoment } from "../parts/freshness.ts";
import type { Target } from "../parts/html.ts";
import type { Query } from "../parts/links.ts";
import type { Project } from "../parts/projects.ts";
import type { StripRow } from "../parts/strips.ts";

const build = relation("fact_builds");

/** Builds in the strip, and in each page of it. */
export const STRIP_BUILDS = 30;
/** Versions and formats: at first, and all that one page can bear. */
export const FEW_SERIES = 10;
export const MOST_SERIES = 200;

/** The choice among the builds of a project that the strip has. */
export interface Only {
  readonly version: string | undefined;
  readonly type: string | undefined;
  /** The name by which its builds call an unknown version. */
  readonly reference: string | undefined;
}

export interface ProjectChoice {
  /** The project, where several have the slug. */
  readonly id: string | undefined;
  readonly only: Only;
  /** The page of the strip. */
  readonly page: number;
  readonly isAllSeries: boolean;
}

/** A project, and its main documentation. */
export interface Subject {
  readonly id: string;
  readonly slug: string;
  /** The html of its default version. */
  readonly main: Target;
}

/** The moment of the page, its project, and the choice of the reader. */
export interface ProjectScope extends PageMoment {
  readonly subject: Subject;
  readonly project: Project;
  readonly choice: ProjectChoice;
  /** Its links keep its id where several projects have the slug. */
  readonly kept: Query;
  /** The address of the page with another choice. */
  href(query: Query): string;
}

/** The newest build first. */
export const NEWEST = sql`${build.triggered_on} desc nulls last, ${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;

export const projectQuestion = questionsOf(
  import.meta.url,
  ({ subject: { id, main }, at }: ProjectScope) => ({
    id,
    main: main.version_slug,
    at: at.toISOString(),
    today: at.toISOString().slice(0, 10),
    near: inline(KNOWN_WITHIN_S),
    newest: NEWEST,
  }),
);

// Questions that the verdict and a block share.

/** All builds of the project, and those of two weeks. */
interface TotalsRow {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly first_triggered_at: string | null;
  readonly week: number;
  readonly week_before: number;
}

/** One row, or none without a build. */
export const askForTotals = projectQuestion<TotalsRow>("project_totals");

export interface RecentBuild {
  readonly outcome: string;
  /** It finished, and its time is not known. */
  readonly is_untimed: boolean;
}

const RECENT_BUILDS = projectQuestion<RecentBuild>("recent_builds");

/** The builds whose rate is shown, and those before them. */
export const askForRecent = (scope: ProjectScope) =>
  RECENT_BUILDS(scope, { recent: inline(2 * STRIP_BUILDS) });

/** A version and format of the project. An unknown version has the name that its builds call it by. */
export interface Series {
  readonly version_id: string;
  readonly version_slug: string;
  readonly type: string;
  readonly reference: string | null;
  readonly is_active: boolean | null;
}

export interface BuiltSeries extends Series {
  readonly builds: number;
  readonly finished: number;
  readonly succeeded: number;
  readonly last_triggered_at: string | null;
  readonly is_deleted: boolean | null;
  readonly is_failing: boolean;
  readonly is_main: boolean | null;
  /** The number of all. */
  readonly total: number;
}

const BUILT_SERIES = projectQuestion<BuiltSeries>("built_series");

/** The versions and formats, in the order of the list. */
export const askForSeries = (scope: ProjectScope) =>
  BUILT_SERIES(scope, { most: inline(scope.choice.isAllSeries ? MOST_SERIES : FEW_SERIES) });

const STRIPS_OF_SERIES = projectQuestion<StripRow & { readonly place: number }>("strips_of_series");

/** The last outcomes of listed series, the oldest first. */
export async function findStrips<S extends Series>(
  tx: TransactionSql,
  scope: ProjectScope,
  series: readonly S[],
): Promise<(one: S) => readonly string[]> {
  const shown = series.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  const { strips } = await askEach(tx, {
    strips: series.length === 0 ? null : STRIPS_OF_SERIES(scope, { series: JSON.stringify(shown) }),
  });
  const outcomes = new Map(strips.map(({ place, outcomes }) => [series[place], outcomes]));
  return (one) => outcomes.get(one) ?? [];
}
