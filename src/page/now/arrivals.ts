import { scaleLinear } from "d3-scale";
import { counted, grouped } from "../../base/text.ts";
import { askFor } from "../../report/ask.ts";
import { type Asks, askEach, countIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import {
  BAR_LOOKS,
  drawBar,
  drawPlot,
  keyEntry,
  levelLine,
  px,
  renderKey,
  uprightLine,
} from "../parts/charts.ts";
import { html, type Markup } from "../parts/html.ts";
import { age, clockWords, HOUR_MS, mark, momentMs, when } from "../parts/marks.ts";
import { numberColumn, renderFoldTable, renderRows } from "../parts/tables.ts";
import { askForOpenCounts, type NowScope, nowQuestion, spanOf } from "./now-scope.ts";
import { type Arrivals, rangeWords } from "./usual.ts";
import type { NowSaid } from "./verdict.ts";

const HEIGHT = 140;
/** Below the words of the last build. */
const TOP = 22;
const BASE = 119;

const ofWidth = (percent: number): string => `${percent.toFixed(2)}%`;

/** An hour with its builds, and the usual range where enough days are known. */
interface HourRow {
  readonly hour: string;
  readonly builds: number;
  readonly usual_low: number | null;
  readonly usual_high: number | null;
}

const askForHours = (): Asks<HourRow> => askFor("arrivals_hourly", { limit: 24 });

/** The arrivals of each of the last 24 hours, in the band of what is usual. */
export const arrivals = block({
  id: "arrivals",
  file: askForHours,
  async draw(_found, scope: NowScope, { isSilent, facts: { arrivals } }: NowSaid, tx) {
    if (!isSilent) return null;
    const { rows } = await askEach(tx, { rows: askForHours() });
    const hours = rows.toSorted((one, other) => momentMs(one.hour) - momentMs(other.hour));
    return {
      title: `Arrivals by hour, ${spanOf(scope).words}`,
      note:
        "Bars: builds triggered in the hour. Band: that hour on 28 days, the highest and lowest tenth left out, working days and weekends " +
        `apart. The last hour ends at ${when(arrivals.lookedAt, scope.now)}.`,
      body: html`${drawHours(hours, arrivals, scope.now)}
${renderKey([
  keyEntry(
    [22, 12],
    html`<rect class="band" width="22" height="12"/><path class="band-edge" d="M0 .75h22M0 11.25h22"/>`,
    "usual",
  ),
  keyEntry([8, 12], html`<rect ${BAR_LOOKS.ink} width="8" height="12"/>`, "came"),
  keyEntry([12, 12], html`<circle class="zero" cx="6" cy="6" r="4"/>`, "none came"),
])}
${renderFoldTable<HourRow>({
  columns: [
    { head: "Hour", cell: clockOf },
    numberColumn("Came", ({ builds }) => builds),
    numberColumn("Usually", usualWords),
  ],
  rows: hours,
})}`,
    };
  },
});

const clockOf = ({ hour }: HourRow): string => clockWords(hour);

const usualWords = ({ usual_low: low, usual_high: high }: HourRow): string | null =>
  low === null || high === null ? null : rangeWords({ low, high });

function drawHours(hours: readonly HourRow[], arrivals: Arrivals, now: Date): Markup {
  const wide = 100 / Math.max(1, hours.length);
  const most = Math.max(1, ...hours.map(({ builds, usual_high }) => Math.max(builds, usual_high ?? 0)));
  const y = scaleLinear([0, most], [BASE, TOP]);
  const gone = hours.filter(({ builds }) => builds === 0).length;
  const told =
    `Builds by hour of the last 24, against the usual range. None came in ${gone} of ${hours.length} hours; ` +
    `the last build was at ${when(arrivals.lastBuildAt, now)}.`;
  const ticks = [...new Set([0, Math.round(most / 2), most])];
  return drawPlot({
    height: HEIGHT,
    told,
    labels: ticks.map((tick) => ({ y: y(tick), words: grouped(tick) })),
    body: html`${ticks.map((tick) => levelLine(y(tick)))}
${hours.map(
  (hour, place) => html`${drawBand(hour, place * wide, wide, y)}
${drawCame(hour, place, wide, y)}`,
)}
${levelLine(BASE, "base")}
${drawLast(arrivals, (arrivals.lastBuildAt - momentMs(hours[0]?.hour)) / HOUR_MS, wide)}
${hours.map(
  (hour, place) =>
    place % 4 === 0 &&
    html`<text${place % 8 === 4 && html` class="t3"`} x="${ofWidth(place * wide)}" y="${HEIGHT - 4}">${clockOf(hour)}</text>`,
)}`,
  });
}

/** The moment of the last build, so many hours after the first of the chart; nothing where it is before. */
function drawLast({ lastBuildAt }: Arrivals, hours: number, wide: number): Markup | false {
  const x = hours * wide;
  const isAfterMiddle = x > 50;
  return (
    hours >= 0 &&
    html`${uprightLine(ofWidth(x), BASE, "since")}
<text class="strong${isAfterMiddle && " end"}" x="${ofWidth(x + (isAfterMiddle ? -0.6 : 0.6))}" y="12">${clockWords(lastBuildAt)}, the last build</text>`
  );
}

function drawBand(
  { usual_low, usual_high }: HourRow,
  from: number,
  wide: number,
  y: (count: number) => number,
): Markup | "" {
  if (usual_low === null || usual_high === null) return "";
  const [high, low] = [px(y(usual_high)), px(y(usual_low))];
  const edge = (level: number) =>
    html`<line class="band-edge" x1="${ofWidth(from)}" x2="${ofWidth(from + wide)}" y1="${level}" y2="${level}"/>`;
  return html`<rect class="band" x="${ofWidth(from)}" width="${ofWidth(wide)}" y="${high}" height="${px(Math.max(1, y(usual_low) - y(usual_high)))}"/>
    ${edge(high)}${edge(low)}`;
}

/** A bar with its figures, or a ring where none came. */
function drawCame(hour: HourRow, place: number, wide: number, y: (count: number) => number): Markup {
  const usual = usualWords(hour);
  const words = `${clockOf(hour)}: ${hour.builds === 0 ? "none" : grouped(hour.builds)}${usual === null ? "" : `, usually ${usual}`}`;
  if (hour.builds === 0)
    return html`<circle class="zero" cx="${ofWidth((place + 0.5) * wide)}" cy="${BASE}" r="3.5"><title>${words}</title></circle>`;
  const top = y(hour.builds);
  const bar = { x: ofWidth((place + 0.3) * wide), width: ofWidth(0.4 * wide) };
  return html`<g><title>${words}</title>${drawBar("ink", bar, top, BASE - top)}</g>`;
}

const RULES = [
  ["alarm", "Red", "None came for twice the longest gap of 28 days, and 10 or more are usual in that time."],
  [
    "warn",
    "Amber",
    "None came for longer than the longest gap, or fewer in 24 hours than on any of 28 days.",
  ],
  [
    "flat",
    "Plain",
    "Builds come as usual; fewer than 14 days are known; fewer than 10 are usual; or none came for 28 days.",
  ],
  [
    "idle",
    "Not known",
    "The mirror has never looked, or the dates of builds and its clock disagree. All is judged as of the last look.",
  ],
] as const;

/** The rules by which the arrival of builds is red, amber, plain, or not known. */
export const rules = block({
  id: "rules",
  narrowedBy: null,
  draw: (_found, _scope, { isSilent, isQuiet }: NowSaid) =>
    isSilent
      ? {
          title: "When this is red",
          short: isQuiet ? undefined : "and when amber, plain, or not known",
          body: html`<dl class="rules">${RULES.map(
            ([kind, name, say]) => html`<div><dt>${mark(kind, "")}${name}</dt><dd>${say}</dd></div>
`,
          )}</dl>`,
        }
      : null,
});

/** The checks that show that the builds stopped, and not the mirror. */
export const checked = block({
  id: "checked",
  narrowedBy: null,
  asks: (scope: NowScope) => ({ openCounts: askForOpenCounts(scope) }),
  async draw({ openCounts: [open] }, scope, { isQuiet, facts: { arrivals } }: NowSaid, tx) {
    if (!isQuiet) return null;
    const { now, freshness } = scope;
    const last = when(arrivals.lastBuildAt, now);
    const found = await askEach(tx, {
      looks: LOOKS(scope, { since: new Date(arrivals.lastBuildAt).toISOString() }),
    });
    const [looks] = found.looks;
    const [bad, stuck] = [countIn(looks, "not_whole"), countIn(open, "stuck")];
    const total = looks?.total_count ?? null;
    const progress = `${grouped(countIn(open, "builds"))} in progress`;
    return {
      title: "What was checked",
      body: renderRows([
        {
          name: html`${freshness.isStale ? mark("warn", "look at the mirror") : mark("good", "in order")} The mirror looks`,
          figure: age(arrivals.lookedAt, now),
          small: `${counted(countIn(looks, "looks"), "look")} since ${last}, ${bad === 0 ? "none failed" : `${grouped(bad)} of them not whole`}`,
        },
        {
          name: html`${mark("good", "in order")} The service answers`,
          figure: "",
          small:
            total === null
              ? "it has not said how many builds it has"
              : `its list counts ${counted(total, "build")}`,
        },
        {
          name: html`${mark("bad", "not in order")} Builds arrive`,
          figure: "0",
          small: `none triggered since ${last}`,
        },
        stuck > 0
          ? {
              name: html`${mark("stuck", "stuck")} <a href="/projects?state=stuck">${progress}</a>`,
              figure: age(open?.oldest, now),
              small: `${grouped(stuck)} of them stuck`,
            }
          : {
              name: html`${mark("run", "in progress")} ${progress}`,
              figure: "",
              small: "none of them is stuck",
            },
      ]),
    };
  },
});

interface LooksRow {
  readonly looks: number;
  readonly not_whole: number;
  /** All builds that the service counted at the newest look that says so. */
  readonly total_count: number | null;
}

/** The looks at the builds since a moment. */
const LOOKS = nowQuestion<LooksRow>("looks_since");
