import { sql } from "drizzle-orm";
import { ask, inline, pick, relation } from "../../report/ask.ts";
import { columnsOf } from "../../report/dictionary.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, question } from "../parts/answers.ts";
import { KNOWN_WITHIN_S } from "../parts/bounds.ts";
import type { PageMoment } from "../parts/freshness.ts";
import type { Query } from "../parts/links.ts";
import type { Project } from "../parts/projects.ts";
import { type Failing, lastOutcomes, type StripRow } from "../parts/strips.ts";

const build = relation("fact_builds");

/** Builds in the strip, and in each page of it. */
export const STRIP_BUILDS = 30;
/** Versions and formats: at first, and all that one page can bear. */
export const FEW_SERIES = 10;
export const MOST_SERIES = 200;
const SERIES_STRIP = 20;

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
  /** The slug of its default version. */
  readonly mainVersion: string;
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

/** The parameters that narrow the files of most blocks. */
export const OWN = { slug: null, id: null };

/** The newest build first. */
export const NEWEST = sql`${build.triggered_on} desc nulls last, ${build.triggered_at} desc nulls last, length(${build.build_id}) desc, ${build.build_id} desc`;

/** A question about the project, from its file; `more` are the places that only it has. */
export function projectQuestion<R>(name: string) {
  const write = question<R>(name, import.meta.url);
  return ({ subject: { id, mainVersion }, at }: ProjectScope, more = {}): Asks<R> =>
    write({
      id,
      main: mainVersion,
      at: at.toISOString(),
      today: at.toISOString().slice(0, 10),
      near: inline(KNOWN_WITHIN_S),
      newest: NEWEST,
      ...more,
    });
}

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
export const askForTotals = projectQuestion<TotalsRow>("totals");

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
interface Series {
  readonly version_id: string;
  readonly version_slug: string;
  readonly type: string;
  readonly reference: string | null;
  readonly is_active: boolean | null;
}

export interface FailingSeries extends Series, Failing {
  /** The number of those that fail, and the moment since which the oldest does. */
  readonly total: number;
  readonly oldest: string | null;
}

const FAILING_SERIES = projectQuestion<FailingSeries>("failing_series");

/** The series that fail: the main docs first, then the newest break. */
export const askForFailing = (scope: ProjectScope) =>
  FAILING_SERIES(scope, { columns: pick(relation("failing_now"), ...columnsOf("failing_now")) });

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

/** The last outcomes of listed series, the oldest first. */
export async function findStrips<S extends Series>(
  tx: TransactionSql,
  { subject }: ProjectScope,
  series: readonly S[],
): Promise<(one: S) => readonly string[]> {
  const own = relation("fact_builds", "build");
  const shown = series.map(({ version_id, type, reference }, place) => ({
    place,
    version_id,
    type,
    reference,
  }));
  const isOf = sql`${own.project_id} = ${subject.id} and ${own.version_id} = shown.version_id and ${own.type} = shown.type
    and ${own.reference} is not distinct from shown.reference`;
  const question: Asks<StripRow & { readonly place: number }> = ask`
select shown.place, last.outcomes
from json_to_recordset(${JSON.stringify(shown)}::text::json) as shown (place int, version_id text, type text, reference text)
${lastOutcomes(isOf, NEWEST, SERIES_STRIP)}`;
  const { strips } = await askEach(tx, { strips: series.length === 0 ? null : question });
  const outcomes = new Map(strips.map(({ place, outcomes }) => [series[place], outcomes]));
  return (one) => outcomes.get(one) ?? [];
}
