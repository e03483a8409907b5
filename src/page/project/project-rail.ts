import { formatBetween } from "../../mirror/builds/format-span.ts";
import { askFor } from "../../report/ask.ts";
import { age, momentMs, momentTag, span } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { drawBound, drawBoundAxis, renderBoundKey } from "../parts/charts/bound-bar.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { badgeHref, buildHref, feedHref, projectHref } from "../parts/links.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { buildLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { counted, foreign, grouped, kindLabel, type Markup, targetWords } from "../parts/words.ts";
import { drawDayCounts } from "./day-counts.ts";
import { addressText } from "./outside-link.ts";
import { numberOf, type ProjectAnswers, type ProjectQuestions } from "./project-answers.ts";
import { SHOWN_DAYS, type Subject } from "./project-questions.ts";

/** Counts by day. A rate by day would say little of so few builds. */
export function renderProjectDays(
  subject: Subject,
  answers: ProjectAnswers,
  questions: ProjectQuestions,
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
    tools: { question: questions.days, filters: { project: subject.slug } },
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
export function renderProjectFixed(
  subject: Subject,
  answers: ProjectAnswers,
  questions: ProjectQuestions,
  now: Date,
): Markup {
  const { fixed } = answers;
  const total = numberOf(fixed, "total");
  return renderBlock({
    id: "fixed",
    title: "Fixed",
    count: grouped(total),
    ...(total > fixed.length && { note: `The last ${fixed.length}.` }),
    tools: { question: questions.fixed, filters: { project: subject.slug } },
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

/** How long the last builds took, between their bounds. */
export function renderProjectTimes(
  subject: Subject,
  answers: ProjectAnswers,
  questions: ProjectQuestions,
): Markup {
  const { times, recent } = answers;
  const untimed = recent.filter(({ is_untimed }) => is_untimed === true).length;
  const left =
    untimed === 0
      ? ""
      : html`<p class="more">Of ${grouped(untimed)} of the last ${counted(recent.length, "build")} nothing is
        known: they had ended when the mirror first looked.</p>`;
  return renderBlock({
    id: "times",
    title: "How long builds take",
    tools: { question: questions.times, filters: { project: subject.slug } },
    body:
      times.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say:
              untimed === 0
                ? "No build of this project has finished."
                : "They had ended when the mirror first looked.",
          })
        : html`<ul class="bounds">${drawBoundAxis()}${times.map(renderTime)}</ul>
${renderBoundKey("took at least so long", "may have taken so long")}
${left}`,
  });
}

function renderTime({ build_id, outcome, duration_s_min, duration_s_max }: Row): Markup {
  const { kind, word } = outcomeMark(outcome);
  const [least, most] = [Number(duration_s_min ?? 0), Number(duration_s_max)];
  const words = formatBetween({ least_ms: least * 1000, most_ms: most * 1000 });
  return html`<li><span>${mark(kind, word)} ${buildLink(build_id)}</span>${drawBound(least, most)}<span class="n">${words}</span></li>`;
}

/** What a project is, as its record says. */
export function renderProjectFacts(project: Row, subject: Subject, now: Date): Markup {
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
    ["Branch of latest", text("default_branch", "none named")],
    ["Created", text("published_on")],
    ["Listed", project.is_listed === false ? "no" : "yes"],
    ["First seen", momentTag(project.first_seen_at, now)],
    ["Id", text("project_id")],
  ];
  return renderBlock({
    id: "facts",
    title: "Facts",
    tools: {
      question: askFor("dim_projects", { project: subject.slug }),
      filters: { project: subject.slug },
    },
    body: html`<dl class="facts">${facts.map(([label, words]) => html`<div><dt>${label}</dt><dd>${words}</dd></div>`)}</dl>`,
  });
}

/** The text to paste for a badge, and the feed. Nothing for a slug that no path can hold. */
export function renderBadgeText({ slug }: Subject): Markup | string {
  const href = projectHref(slug);
  if (href.includes("?") || href.length > 300) return "";
  const badge = badgeHref(slug);
  return renderBlock({
    id: "badge",
    title: "Badge and feed",
    body: html`<p class="note">For a readme, in Markdown; ADDRESS is where this page is read.</p>
<pre tabindex="0" role="region" aria-label="Markdown of the badge">${`[![docs](ADDRESS${badge})](ADDRESS${href})`}</pre>
<p class="more"><a href="${badge}">The badge</a> · <a href="${feedHref(slug)}">The feed of breaks and recoveries</a></p>`,
  });
}
