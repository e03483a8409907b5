import { grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { html, percent, xmlText } from "../parts/html.ts";

interface BadgeFacts {
  /** Whether the last finished build of the main docs succeeded; null when there is none. */
  readonly is_passing: boolean | null;
  /** Builds of the last 90 days, of all versions and types. */
  readonly finished: number;
  readonly succeeded: number;
}

/**
 * The state of a project's main docs, which are the HTML of its default version. Undefined when the mirror has
 * no such project, or only a deleted one. The 90 days end with the moment of the data.
 */
export async function findBadgeFacts(
  tx: TransactionSql,
  slug: string,
  at: Date,
): Promise<BadgeFacts | undefined> {
  // No text of Postgres has this character.
  if (slug.includes("\0")) return undefined;
  const [row] = await tx<BadgeFacts[]>`
    select main.is_passing, coalesce(days.finished, 0)::float8 as finished, coalesce(days.succeeded, 0)::float8 as succeeded
    from report.dim_projects as project
    left join lateral (
      select build.succeeded = 1 as is_passing
      from report.dim_versions as version
      join report.fact_builds as build on build.project_id = project.project_id and build.version_id = version.version_id
      where version.project_id = project.project_id and version.is_main and not version.is_deleted and build.type = 'html' and build.succeeded is not null
        and (build.triggered_at is null or build.triggered_at < ${at}::timestamptz + interval '1 day')
      order by build.triggered_at desc nulls last, length(build.build_id) desc, build.build_id desc
      limit 1
    ) as main on true
    cross join lateral (
      select sum(day.finished) as finished, sum(day.succeeded) as succeeded
      from report.success_rate_daily_by_project as day
      where day.project_id = project.project_id and day.day > (${at}::timestamptz at time zone 'utc')::date - 90
        and day.day <= (${at}::timestamptz at time zone 'utc')::date
    ) as days
    where project.project_slug = ${slug} and not project.is_deleted
    order by length(project.project_id) desc, project.project_id desc
    limit 1`;
  return row;
}

const LABEL = "docs";
/** White text has a contrast of at least 5.6 on each. */
const COLOURS = { label: "#3a434f", passing: "#0b6647", failing: "#b02a1c", unknown: "#5f6977" };
const HEIGHT = 20;
const PADDING = 6;
/** The text is fitted to the width that is reserved for it, whatever font a machine has. */
const CHARACTER_WIDTH = 6.3;

/** A picture with a project's state and rate, for pages elsewhere. Undefined facts say that there is no such project. */
export async function renderBadge(slug: string, facts: BadgeFacts | undefined): Promise<string> {
  const state = stateOf(facts);
  let [value, title] = [state.words, `There is no project ${xmlText(slug)}.`];
  if (facts) title = `Documentation of ${xmlText(slug)}: ${state.words}.`;
  if (facts && facts.finished > 0) {
    const rate = percent(facts.succeeded / facts.finished);
    value += ` · ${rate}`;
    title += ` ${rate} of ${grouped(facts.finished)} builds of the last 90 days succeeded.`;
  }
  const [left, right] = [widthOf(LABEL), widthOf(value)];
  const badge = await html`<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}"
    viewBox="0 0 ${left + right} ${HEIGHT}" role="img" aria-label="${title}">
<title>${title}</title>
<rect width="${left + right}" height="${HEIGHT}" rx="3" fill="${state.colour}"/>
<path d="M3 0H${left}V${HEIGHT}H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="${COLOURS.label}"/>
<g fill="#fff" font-family="Verdana,'DejaVu Sans',sans-serif" font-size="11">
${renderText(LABEL, 0)}
${renderText(value, left)}
</g>
</svg>
`;
  return badge.toString();
}

function stateOf(facts: BadgeFacts | undefined): { words: string; colour: string } {
  if (facts === undefined) return { words: "no such project", colour: COLOURS.unknown };
  if (facts.is_passing === null) return { words: "not known", colour: COLOURS.unknown };
  const words = facts.is_passing ? "passing" : "failing";
  return { words, colour: COLOURS[words] };
}

const textWidth = (text: string) => Math.round(text.length * CHARACTER_WIDTH);
const widthOf = (text: string) => textWidth(text) + 2 * PADDING;

const renderText = (text: string, from: number) =>
  html`<text x="${from + PADDING}" y="14" textLength="${textWidth(text)}" lengthAdjust="spacingAndGlyphs">${text}</text>`;
