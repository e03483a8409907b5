import { counted, grouped } from "../../base/counted.ts";
import { momentTag } from "../parts/age.ts";
import { renderBlock } from "../parts/block.ts";
import { dayAxis, drawDates } from "../parts/charts/day-axis.ts";
import type { Count } from "../parts/charts/difference.ts";
import { renderKey, swatch } from "../parts/charts/key.ts";
import { drawBar, drawPlot, levelLine } from "../parts/charts/plot.ts";
import { rateDot } from "../parts/charts/rate-dot.ts";
import { spansOf } from "../parts/charts/spans.ts";
import { renderEmpty } from "../parts/empty.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { type Query, withQuery } from "../parts/links.ts";
import { type Column, renderListTable } from "../parts/list-table.ts";
import { mark } from "../parts/mark.ts";
import type { Offer } from "../parts/offers.ts";
import { dayNumber, daysName, type Period } from "../parts/period.ts";
import { buildLink, projectLink, targetTag } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, type Markup, percent, wholePercent } from "../parts/words.ts";
import { points, rateChange } from "./trends-compare.ts";
import { formatsAbout, LATE_DAYS } from "./trends-questions.ts";

interface ListFacts {
  readonly rows: readonly Row[];
  readonly tools: Offer;
}

/** The rate of each format, against the period before; of all time for a long period. */
export function renderFormats({
  rows,
  tools,
  period,
  type,
  kept,
  now,
}: ListFacts & {
  readonly period: Period;
  readonly type: string | undefined;
  readonly kept: Query;
  readonly now: Date;
}): Markup {
  const about = formatsAbout(period, type);
  const isAllTime = about === "all time";
  const isCompared = about === "both periods";
  const countOf = (row: Row, which = ""): Count => ({
    succeeded: Number(row[`succeeded${which}`] ?? 0),
    finished: Number(row[`finished${which}`] ?? 0),
  });
  const columns: Column[] = [
    {
      head: "Format",
      isName: true,
      cell: ({ type }) =>
        type === "(none)"
          ? "not known"
          : html`<a href="${withQuery("/trends", { ...kept, type: String(type) })}">${foreign(String(type), 24)}</a>`,
    },
    {
      head: isAllTime ? "Succeeded, of all time" : `Succeeded, ${daysName(period, now)}`,
      isWide: true,
      cell: (row) => rateDot(countOf(row).succeeded, countOf(row).finished),
    },
    ...(isCompared
      ? [
          {
            head: "Before",
            isNumber: true,
            label: "before",
            cell: (row: Row) => {
              const { succeeded, finished } = countOf(row, "_before");
              return finished === 0 ? "–" : wholePercent(succeeded / finished);
            },
          },
          { head: "Change", cell: (row: Row) => rateChange(countOf(row), countOf(row, "_before"), false) },
        ]
      : []),
  ];
  const shown = rows.filter((row) => countOf(row).finished > 0 || countOf(row, "_before").finished > 0);
  return renderBlock({
    id: "formats",
    title: "By format",
    ...(isAllTime && { note: "Of all time: these figures ignore the dates, because the period is long." }),
    tools,
    body:
      shown.length === 0
        ? renderEmpty({ kind: "unknown", strong: "Not known.", say: "No build of this period has finished." })
        : renderListTable({ caption: "Success by format", columns, rows: shown }),
  });
}

/** Hours in which far more projects failed than usual, and the rate without them. */
export function renderPlatform({
  rows,
  tools,
  lookedAt,
  plain,
  period,
  type,
  now,
}: ListFacts & {
  /** How many hours in the last days of the period had enough builds to show trouble. */
  readonly lookedAt: number;
  readonly plain: { readonly all: Count; readonly kept: Count };
  readonly period: Period;
  readonly type: string | undefined;
  readonly now: Date;
}): Markup {
  const hours = Number(rows[0]?.hours ?? 0);
  const late = Math.min(period.days, LATE_DAYS);
  const of = late < period.days ? `the last ${late} days` : "these days";
  const left = plain.all.finished - plain.kept.finished;
  const body =
    hours === 0
      ? lookedAt === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say: `In no hour of ${of} did eight projects or more build, which it takes to tell.`,
          })
        : renderEmpty({
            kind: "none",
            strong: "None found.",
            say:
              `In ${grouped(lookedAt)} of the ${grouped(late * 24)} hours of ${of} enough projects built to tell, ` +
              "and in none of the period did far more of them fail than usual.",
          })
      : html`<ul class="rows">${rows.map(
          (row) =>
            html`<li><span>${mark("bad", "trouble")} ${momentTag(row.hour, now)}</span>
              <span class="n">${grouped(Number(row.projects_failing))} of
              ${counted(Number(row.projects), "project")} failed</span>
              <small>${usualWords(Number(row.projects_expected))} would be usual</small></li>`,
        )}</ul>${hours > rows.length ? html`<p class="more">${grouped(hours - rows.length)} more hours in the file.</p>` : ""}`;
  return renderBlock({
    id: "platform",
    title: "Trouble of the platform",
    ...(hours > 0 && { count: counted(hours, "hour") }),
    ...(type !== undefined && { note: "Of all formats: these figures ignore the format." }),
    tools,
    body: html`${body}
${
  plain.kept.finished === 0
    ? ""
    : left === 0
      ? html`<p class="more">None of the ${counted(plain.all.finished, "finished build")} failed of an error that is the platform's own.</p>`
      : html`<p class="more">Without ${hours > 0 ? "such hours and " : ""}the platform's own errors,
        ${counted(left, "build")} fewer, <b>${percent(plain.kept.succeeded / plain.kept.finished)}</b>
        succeeded, with them ${percent(plain.all.succeeded / plain.all.finished)}.</p>`
}`,
  });
}

const usualWords = (projects: number): string =>
  projects < 1 ? "fewer than one" : grouped(Math.round(projects));

const lastFailed = ({ last_failed_build_id: id }: Row): Markup | string =>
  id === null ? "" : html` · last ${buildLink(id)}`;

/** Projects that got worse lately. */
export function renderRegressions({ rows, tools }: ListFacts): Markup {
  return renderBlock({
    id: "regressions",
    title: "Projects that got worse",
    note: "The last 7 days against the 28 before, whatever dates are chosen; projects with 20 finished builds or more in both.",
    tools,
    body:
      rows.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "None is known.",
            say: "No project with that many builds has a rate that is surely lower. Of those with fewer this says nothing.",
          })
        : html`<ul class="rows">${rows.map(
            (row) =>
              html`<li>${projectLink(row.project_slug)}
                <span class="n"><span class="delta bad">${icon("down")}<span class="unseen">down </span>
                ${points(Number(row.difference)).replace("−", "")} points</span></span>
                <small>${grouped(Number(row.succeeded_last_7_days))} of
                ${grouped(Number(row.finished_last_7_days))} succeeded,
                ${grouped(Number(row.succeeded_28_days_before))} of
                ${grouped(Number(row.finished_28_days_before))} before: surely
                ${points(-Number(row.difference_high)).replace("+", "")} points or more${lastFailed(row)}</small></li>`,
          )}</ul>`,
  });
}

/** Versions and formats whose results change more often than chance explains. */
export function renderFlaky({ rows, tools }: ListFacts): Markup {
  const all = Number(rows[0]?.series ?? 0);
  return renderBlock({
    id: "flaky",
    title: "Flaky",
    ...(all > 0 && { count: grouped(all) }),
    note: "Of the last 20 results of each, whatever dates are chosen: those that change between success and failure more often than random order would.",
    tools,
    body:
      rows.length === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "None stands out.",
            say: "No version and format changes so often that chance is an unlikely reason. With few builds nothing could.",
          })
        : html`<ul class="rows">${rows.map((row) => {
            const chance = Number(row.flip_rate_by_chance) * (Number(row.finished) - 1);
            return html`<li><span>${projectLink(row.project_slug)} ${targetTag(row)}</span>
              <span class="n">${counted(Number(row.flips), "change")}</span>
              <small>in ${grouped(Number(row.finished))} builds; ${grouped(Math.round(chance))} would be
              chance</small></li>`;
          })}</ul>${all > rows.length ? html`<p class="more">${grouped(all - rows.length)} more in the file.</p>` : ""}`,
  });
}

/** How many builds were open at once, at most, day by day, in the hours in which that is known. */
export function renderBacklog({
  rows,
  tools,
  period,
  type,
  now,
}: ListFacts & { readonly period: Period; readonly type: string | undefined; readonly now: Date }): Markup {
  const sum = (name: string) => rows.reduce((total, row) => total + Number(row[name]), 0);
  const [hours, known] = [sum("hours"), sum("known")];
  const byDay = new Map(
    rows
      .filter((row) => Number(row.known) > 0)
      .map((row) => [dayNumber(row.day), { least: Number(row.open_min), most: Number(row.open_max) }]),
  );
  // The axis begins with the first day of which something is known.
  const [first, last] = [Math.min(...byDay.keys()), Math.max(...byDay.keys())];
  const shown = known === 0 ? [] : spansOf({ ...period, before: null, start: first, first, last });
  const spans = shown.map((span) => {
    let [least, most] = [0, 0];
    for (let day = span.first; day <= span.last; day++) {
      const known = byDay.get(day);
      if (known !== undefined) [least, most] = [Math.max(least, known.least), Math.max(most, known.most)];
    }
    return { ...span, least, most };
  });
  const axis = dayAxis(spans);
  const sure = Math.max(0, ...spans.map(({ least }) => least));
  const [bottom, height] = [72, 98];
  const top = Math.max(1, ...spans.map(({ most }) => most));
  const high = (count: number) => ((bottom - 6) * count) / top;
  const chart = drawPlot({
    height,
    told: `Open builds: at most ${grouped(top)} at once in the hours that are known, of which ${grouped(sure)} surely.`,
    labels: [
      { y: bottom + 4, words: "0" },
      { y: bottom - high(top) + 8, words: grouped(top) },
    ],
    body: html`${spans.map((span) => {
      const [surely, perhaps] = [high(span.least), high(span.most) - high(span.least)];
      const most = span.least === span.most ? "" : ` to ${grouped(span.most)}`;
      const bar = axis.bar(span);
      return html`<g><title>${daysName(span, now)}: ${grouped(span.least)}${most} open</title>
        ${surely === 0 ? "" : drawBar("ink", bar, (bottom - surely).toFixed(1), surely)}
        ${perhaps === 0 ? "" : drawBar("perhaps", bar, (bottom - surely - perhaps).toFixed(1), perhaps)}</g>`;
    })}
${levelLine(bottom, "base")}${drawDates(spans, axis, height - 4, now)}`,
  });
  const mark = spans.some(({ days }) => days > 1) ? "mark" : "day";
  const ofAll = type === undefined ? "" : "; of all formats";
  return renderBlock({
    id: "backlog",
    title: "Open builds",
    count: daysName(period, now),
    note: `The fullest known hour of each ${mark}: builds that were triggered and had not finished, stuck ones included${ofAll}.`,
    tools,
    body:
      known === 0
        ? renderEmpty({
            kind: "unknown",
            strong: "Not known.",
            say:
              hours === 0
                ? "No sync has covered these hours."
                : html`In none of the ${counted(hours, "hour")} is it known to within five builds or a tenth: nobody
                  looked between trigger and finish. <code>docmirror watch</code> looks each minute.`,
          })
        : html`<p class="took">At most <b>${sure === top ? grouped(top) : `${grouped(sure)} to ${grouped(top)}`}</b> at once.</p>
<p class="note">That is known to within five builds or a tenth in ${grouped(known)} of the ${counted(hours, "hour")}.
  ${known < hours / 2 ? html`In the others it is not: nobody looked between trigger and finish. <code>docmirror watch</code> looks each minute.` : ""}</p>
${
  // A single bar says no more than the sentence.
  spans.length < 2
    ? ""
    : html`<div class="charts${spans.length < 8 ? " few" : ""}">${chart}</div>
${renderKey([swatch("ink", "surely open"), swatch("perhaps", "perhaps open")])}`
}`,
  });
}
