import { counted, grouped } from "../../base/text.ts";
import { formatBetween } from "../../mirror/builds/format-span.ts";
import { age, momentMs, momentTag, span } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { boundBars, renderBoundKey } from "../parts/charts/bound-bar.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { badgeHref, buildHref, feedHref, projectHref } from "../parts/links.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { KNOWN_WITHIN } from "../parts/questions/known-times.ts";
import type { Maintainers } from "../parts/questions/maintainers.ts";
import { buildLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, targetWords } from "../parts/words.ts";
import { drawDayCounts } from "./day-counts.ts";
import { addressText } from "./outside-link.ts";
import { numberOf, type ProjectAnswers, type ProjectOffers } from "./project-answers.ts";
import { SHOWN_DAYS, type Subject } from "./project-questions.ts";

/** Counts by day. A rate by day would say little of so few builds. */
export function renderProjectDays(
  answers: ProjectAnswers,
  offers: ProjectOffers,
  { at, now }: PageMoment,
): Markup {
  const counts = new Map(
    answers.days.map(({ day, succeeded, failed, unfinished }) => [
      String(day),
      { succeeded: Number(succeeded ?? 0), failed: Number(failed ?? 0), unfinished: Number(unfinished ?? 0) },
    ]),
  );
  const isEmpty = [...counts.values()].every(
    (count) => count.succeeded + count.failed + count.unfinished === 0,
  );
  const last = Date.parse(at.toISOString().slice(0, 10));
  return renderBlock({
    id: "days",
    title: "Builds by day",
    note: isEmpty ? "" : "Up: succeeded, down: failed. A rate by day would say little of so few builds.",
    tools: offers.days,
    body: isEmpty
      ? renderEmpty({
          kind: "unknown",
          strong: "No builds",
          say: `were triggered in these ${SHOWN_DAYS} days.`,
        })
      : drawDayCounts(counts, last, SHOWN_DAYS, now),
  });
}

/** What was fixed, newest first. */
export function renderProjectFixed(answers: ProjectAnswers, offers: ProjectOffers, now: Date): Markup {
  const { fixed } = answers;
  const total = numberOf(fixed, "total");
  return renderBlock({
    id: "fixed",
    title: "Fixed",
    count: grouped(total),
    ...(total > fixed.length && { note: `The last ${fixed.length}.` }),
    tools: offers.fixed,
    body:
      total === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "None yet.",
            say: "No failure of this project was followed by a success.",
          })
        : html`<ul class="rows">${fixed.map((row) => renderFixedSeries(row, now))}</ul>`,
  });
}

function renderFixedSeries(row: Row, now: Date): Markup {
  const took = momentMs(row.recovered_at) - momentMs(row.failed_at);
  const failures = Number(row.failures) > 1 ? `, ${grouped(Number(row.failures))} failures` : "";
  return html`<li><a href="${buildHref(String(row.recovered_build_id))}">
    ${targetWords(row.version_slug, row.type)}</a>${age(row.recovered_at, now)}
    <small>${Number.isNaN(took) ? "broken before" : `broken for ${span(Math.max(0, took))}`}
    ${failures} · ${kindLabel(row.error_class)}</small></li>`;
}

/** How long the last builds took whose times are known. */
export function renderProjectTimes(answers: ProjectAnswers, offers: ProjectOffers): Markup {
  const { times, recent } = answers;
  const untimed = recent.filter(({ is_untimed }) => is_untimed === true).length;
  const unwatched = html`nobody looked between their trigger and their finish. <code>docmirror watch</code> looks each minute.`;
  const bound = (row: Row) => ({ least: Number(row.duration_s_min), most: Number(row.duration_s_max) });
  const bars = boundBars(times.map(bound));
  return renderBlock({
    id: "times",
    title: "How long builds take",
    tools: offers.times,
    body:
      times.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say:
              untimed === 0
                ? "No build of this project has finished."
                : html`No build of it is known to within ${KNOWN_WITHIN}: ${unwatched}`,
          })
        : html`<ul class="bounds">${bars.axis}${times.map((row) => {
            const { kind, word } = outcomeMark(row.outcome);
            const words = formatBetween({
              least_ms: bound(row).least * 1000,
              most_ms: bound(row).most * 1000,
            });
            return html`<li><span>${mark(kind, word)} ${buildLink(row.build_id)}</span>${bars.draw(bound(row))}<span class="n">${words}</span></li>`;
          })}</ul>
${renderBoundKey("took at least so long", "may have taken so long")}
${
  untimed === 0
    ? ""
    : html`<p class="more">Of ${grouped(untimed)} of the last ${counted(recent.length, "build")} it is not known to within
        ${KNOWN_WITHIN}: ${unwatched}</p>`
}`,
  });
}

/** What a project is, as its record says; and who maintains it, where people may be seen. */
export function renderProjectFacts(
  project: Row,
  subject: Subject,
  maintainers: Maintainers | null,
  offers: ProjectOffers,
  now: Date,
): Markup {
  const given = (column: string): string | null => {
    const value = project[column];
    return value === null || value === undefined || value === "" ? null : String(value);
  };
  const text = (column: string, otherwise = "not said") => {
    const value = given(column);
    return value === null ? html`<span class="quiet">${otherwise}</span>` : foreign(value, 200);
  };
  const repo = given("repo");
  const type = given("repo_type");
  const facts: [string, Markup | string][] = [
    ["Name", text("project_name")],
    ["Main docs", targetWords(subject.mainVersion, "html")],
    ["Made with", text("documentation_type")],
    ["Theme", text("theme")],
    ...(given("programming_language") === null
      ? []
      : [["Language", text("programming_language")] as [string, Markup]]),
    [
      "Repository",
      repo === null
        ? html`<span class="quiet">not said</span>`
        : html`${addressText(repo)}${type === null ? "" : html` <small>${foreign(type, 20)}</small>`}`,
    ],
    ...(maintainers === null
      ? []
      : [["Maintained by", maintainedBy(maintainers.get(subject.id))] as [string, Markup]]),
    ["Branch of latest", text("default_branch", "none named")],
    ["Created", text("published_on")],
    ["Listed", project.is_listed === false ? "no" : "yes"],
    ["First seen", momentTag(project.first_seen_at, now)],
    ["Id", text("project_id")],
  ];
  return renderBlock({
    id: "facts",
    title: "Facts",
    tools: offers.facts,
    body: html`<dl class="facts">${facts.map(([label, words]) => html`<div><dt>${label}</dt><dd>${words}</dd></div>`)}</dl>`,
  });
}

function maintainedBy(names: string | undefined): Markup {
  return names === undefined ? html`<span class="quiet">not known</span>` : html`${foreign(names, 200)}`;
}

/** The text to paste for a badge, and the feed. Nothing for a slug that no path can hold. */
export function renderBadgeText({ slug }: Subject, origin: string): Markup | string {
  const href = projectHref(slug);
  if (href.includes("?") || href.length > 300) return "";
  const badge = badgeHref(slug);
  return renderBlock({
    id: "badge",
    title: "Badge and feed",
    body: html`<p class="note">For a readme, in Markdown.</p>
<pre tabindex="0" role="region" aria-label="Markdown of the badge">${`[![docs](${origin}${badge})](${origin}${href})`}</pre>
<p class="more"><a href="${badge}">The badge</a> · <a href="${feedHref(slug)}">The feed of breaks and recoveries</a></p>`,
  });
}
