import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { askFor, relation } from "../../report/ask.ts";
import { countIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import {
  boundList,
  KNOWN_WITHIN,
  renderBoundKey,
  type TimedBuild,
  timedRows,
  unknownTimes,
} from "../parts/bounds.ts";
import { rateDot } from "../parts/changes.ts";
import { foreign, html, type Markup, targetWords } from "../parts/html.ts";
import { kindLabel } from "../parts/kinds.ts";
import { buildHref, feedHref, outsideLink } from "../parts/links.ts";
import { age, momentTag, spanBetween } from "../parts/marks.ts";
import { dayName } from "../parts/period.ts";
import { findMaintainers, renderMaintainers } from "../parts/projects.ts";
import { askForMainDays, drawMainDays, findMainDays, MAIN_DAYS } from "../parts/strips.ts";
import { renderFacts, renderRows } from "../parts/tables.ts";
import { askForRecent, type ProjectScope, projectQuestion } from "./project-scope.ts";

const dim = relation("dim_projects");

interface FixedSeries {
  readonly version_slug: string;
  readonly type: string;
  readonly broke_at: string | null;
  readonly recovered_at: string;
  readonly recovered_build_id: string;
  readonly failures: number;
  readonly error_class: string;
  /** The number of all. */
  readonly total: number;
}

const FIXED_SERIES = projectQuestion<FixedSeries>("fixed_series");

/** The series that were fixed, the newest first. */
export const fixed = block({
  id: "fixed",
  asks: (scope: ProjectScope) => ({ rows: FIXED_SERIES(scope) }),
  draw({ rows }, { now, subject: { slug } }) {
    const total = countIn(rows[0], "total");
    const feed = html`<a href="${feedHref(slug)}">The feed of breaks and fixes</a>`;
    return {
      title: "Fixed",
      count: grouped(total),
      note: html`${total > rows.length && `The last ${rows.length}. `}${feed}`,
      empty: total === 0 && [
        "zero",
        "None yet.",
        html`No failure of this project was followed by a success. ${feed}`,
      ],
      body: renderRows(
        rows.map((row) => {
          const took = spanBetween(row.broke_at, row.recovered_at);
          const failures = row.failures > 1 ? `, ${grouped(row.failures)} failures` : "";
          return {
            name: html`<a href="${buildHref(row.recovered_build_id)}">${targetWords(row)}</a>`,
            age: age(row.recovered_at, now),
            small: `broken ${took === null ? "before" : `for ${took}`}${failures} · ${kindLabel(row.error_class)}`,
          };
        }),
      ),
    };
  },
});

const TIMED_BUILDS = projectQuestion<TimedBuild>("timed_builds_of_project");

/** The durations of the last builds whose times are known. */
export const times = block({
  id: "times",
  asks: (scope: ProjectScope) => ({ rows: TIMED_BUILDS(scope), recent: askForRecent(scope) }),
  draw({ rows, recent }) {
    const untimed = recent.filter(({ is_untimed }) => is_untimed).length;
    return {
      title: "How long builds take",
      empty: rows.length === 0 && unknownTimes(untimed, "of this project"),
      body: html`${boundList(timedRows(rows))}
${renderBoundKey("took at least so long", "may have taken so long")}
${
  untimed > 0 &&
  html`<p class="more">Of ${grouped(untimed)} of the last ${counted(recent.length, "build")} it is not known to within
        ${KNOWN_WITHIN}: that takes <code>docmirror watch</code>.</p>`
}`,
    };
  },
});

/** The record of a project; and who maintains it, where people may be seen. */
export const facts = block({
  id: "facts",
  file: ({ subject: { id } }) => askFor("dim_projects", {}, [sql`${dim.project_id} = ${id}`]),
  async draw(_found, { project, subject, now }: ProjectScope, _said, tx) {
    if (subject.id === "-1") return null;
    const maintainers = await findMaintainers(tx, [subject.id]);
    const keepers = maintainers?.get(subject.id);
    const quiet = (words: string) => html`<span class="quiet">${words}</span>`;
    const given = (column: string): string => String(project[column] ?? "");
    const text = (column: string, otherwise = "not said") =>
      given(column) === "" ? quiet(otherwise) : foreign(given(column), 200);
    const type = given("repo_type") && html` <small>${foreign(given("repo_type"), 20)}</small>`;
    return {
      title: "Facts",
      body: renderFacts([
        ["Name", text("project_name")],
        ["Main docs", targetWords(subject.main)],
        ["Made with", text("documentation_type")],
        ["Theme", text("theme")],
        ["Language", given("programming_language") !== "" && text("programming_language")],
        ["Repository", given("repo") === "" ? quiet("not said") : html`${addressText(given("repo"))}${type}`],
        [
          "Maintained by",
          maintainers !== null && (keepers ? renderMaintainers(keepers, 10) : quiet("not known")),
        ],
        ["Branch of latest", text("default_branch", "none named")],
        ["Created", text("published_on")],
        ["Listed", project.is_listed === false ? "no" : "yes"],
        ["First seen", momentTag(project.first_seen_at, now)],
        ["Id", text("project_id")],
      ]),
    };
  },
});

/** The main docs by day, with the rate of these days. */
export const days = block({
  id: "days",
  file: ({ subject: { id }, at }) => askForMainDays([id], at),
  async draw(_found, { subject, at, now }: ProjectScope, _said, tx) {
    if (subject.id === "-1") return null;
    const main = (await findMainDays(tx, [subject.id], at))(subject.id);
    const [first, last] = [main.days[0], main.days.at(-1)].map((day) => dayName(day?.number ?? 0, now));
    return {
      title: `Main docs, ${MAIN_DAYS} days`,
      count: counted(main.finished, "finished build"),
      note: html`${targetWords(subject.main)}. Up: builds of the day succeeded, down: failed, on the line: none has finished; the
        line alone: no builds, dotted: not known.`,
      empty: main.days.every(({ row }) => row === undefined) && [
        "unknown",
        "No builds",
        `of the main docs were triggered in these ${MAIN_DAYS} days.`,
      ],
      body: html`${rateDot(main)}
${drawMainDays(main, subject.slug, now)}
<p class="strip-ends"><span>${first}</span><span>${last}</span></p>`,
    };
  },
});

/** An address as a text, which is a link where it is a web address. */
function addressText(address: string): Markup {
  const text = foreign(address, 200);
  return outsideLink(address, text) ?? text;
}
