import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, type Question, relation } from "../../report/ask.ts";
import { askEach, countIn, type Row } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { drawBar, drawPlot, keyEntry, LOOKS, levelLine, renderKey } from "../parts/charts.ts";
import { html, type Markup } from "../parts/html.ts";
import { agoWords, clockWords, HOUR_MS, mark, momentMs, span } from "../parts/marks.ts";
import { headCell, numberCell, renderFoldTable } from "../parts/tables.ts";
import { type Arrivals, rangeWords, sinceWords } from "./arrivals-verdict.ts";
import { askForOpenCounts, type NowScope, spanOf } from "./now-scope.ts";
import type { NowSaid } from "./now-verdict.ts";

const walk = relation("walks");
const HEIGHT = 140;
/** Below the words of the last build. */
const TOP = 22;
const BASE = 119;

const ofWidth = (percent: number): string => `${percent.toFixed(2)}%`;

type Hour = ReturnType<typeof readHour>;

/** What came in each of the last 24 hours, in the band of what is usual. */
export const arrivals = block({
  id: "arrivals",
  narrowedBy: {},
  asks: (_: NowScope) => ({}),
  file: () => askForHours(),
  async draw(_found, scope, { isSilent, facts: { arrivals } }: NowSaid, tx) {
    if (!isSilent) return null;
    const { now } = scope;
    const { rows } = await askEach(tx, { rows: askForHours() });
    const hours = rows.map(readHour).toSorted((one, other) => one.from - other.from);
    return {
      title: `Arrivals by hour, ${spanOf(scope).words}`,
      note:
        "Bars: builds triggered in the hour. Band: that hour on 28 days, the highest and lowest tenth left out, working days and weekends " +
        `apart. The last hour ends at ${clockWords(arrivals.lookedAt)}.`,
      body: html`${drawHours(hours, arrivals, now)}
${renderKey([
  keyEntry(
    [22, 12],
    html`<rect class="band" width="22" height="12"/><path class="band-edge" d="M0 .75h22M0 11.25h22"/>`,
    "usual",
  ),
  keyEntry([8, 12], html`<rect ${LOOKS.ink} width="8" height="12"/>`, "came"),
  keyEntry([12, 12], html`<circle class="zero" cx="6" cy="6" r="4"/>`, "none came"),
])}
${renderFoldTable(
  [headCell("Hour"), headCell("Came", "num"), headCell("Usually", "num")],
  hours.map(
    (hour) =>
      html`<tr><th scope="row">${clockWords(hour.from)}</th>${numberCell(grouped(hour.builds))}${numberCell(usualWords(hour) ?? "–")}</tr>`,
  ),
)}`,
    };
  },
});

const askForHours = (): Question => askFor("arrivals_hourly", { limit: 24 });

/** `from` is in milliseconds; `usual` is null where too few days are known. */
const readHour = ({ hour, builds, usual_low, usual_high }: Row) => ({
  from: momentMs(hour),
  builds: Number(builds),
  usual: usual_low === null ? null : { low: Number(usual_low), high: Number(usual_high) },
});

const usualWords = ({ usual }: Hour): string | null => usual && rangeWords(usual);

function drawHours(hours: readonly Hour[], arrivals: Arrivals, now: Date): Markup {
  const first = hours[0]?.from ?? 0;
  const wide = 100 / Math.max(1, hours.length);
  const most = Math.max(1, ...hours.map(({ builds, usual }) => Math.max(builds, usual?.high ?? 0)));
  const y = (count: number) => BASE - ((BASE - TOP) * count) / most;
  const gone = hours.filter(({ builds }) => builds === 0).length;
  const told =
    `Builds by hour of the last 24, against the usual range. None came in ${gone} of ${hours.length} hours; ` +
    `the last build was at ${sinceWords(arrivals, now)}.`;
  const since = (arrivals.lastBuildAt - first) / HOUR_MS;
  const isAfterMiddle = since > hours.length / 2;
  const lastX = ofWidth(Math.max(0, since) * wide);
  const textX = ofWidth(Math.max(0, since) * wide + (isAfterMiddle ? -0.6 : 0.6));
  const ticks = [0, Math.round(most / 2), most].filter((tick, place, all) => all.indexOf(tick) === place);
  return drawPlot({
    height: HEIGHT,
    told,
    labels: ticks.map((tick) => ({ y: (y(tick) + 4).toFixed(1), words: grouped(tick) })),
    body: html`${ticks.map((tick) => levelLine(y(tick).toFixed(1)))}
${hours.map(
  (hour, place) => html`${drawBand(hour, place * wide, wide, y)}
${drawCame(hour, place, wide, y)}`,
)}
${levelLine(BASE, "base")}
${
  since < 0
    ? ""
    : html`<line class="since" x1="${lastX}" x2="${lastX}" y1="0" y2="${BASE}"/>
<text class="strong${isAfterMiddle ? " end" : ""}" x="${textX}" y="12">${clockWords(arrivals.lastBuildAt)}, the last build</text>`
}
${hours.map(({ from }, place) => {
  const quiet = place % 8 === 4 ? html` class="t3"` : "";
  return place % 4 === 0
    ? html`<text${quiet} x="${ofWidth(place * wide)}" y="${HEIGHT - 4}">${clockWords(from)}</text>`
    : "";
})}`,
  });
}

function drawBand({ usual }: Hour, from: number, wide: number, y: (count: number) => number) {
  if (usual === null) return "";
  const [high, low] = [y(usual.high), y(usual.low)];
  const [x, until] = [ofWidth(from), ofWidth(from + wide)];
  const edge = (level: number) =>
    html`<line class="band-edge" x1="${x}" x2="${until}" y1="${level.toFixed(1)}" y2="${level.toFixed(1)}"/>`;
  return html`<rect class="band" x="${x}" width="${ofWidth(wide)}" y="${high.toFixed(1)}" height="${Math.max(1, low - high).toFixed(1)}"/>
    ${edge(high)}${edge(low)}`;
}

/** A bar with its figures, or a ring where none came. */
function drawCame(hour: Hour, place: number, wide: number, y: (count: number) => number): Markup {
  const usual = usualWords(hour);
  const words = `${clockWords(hour.from)}: ${hour.builds === 0 ? "none" : grouped(hour.builds)}${usual === null ? "" : `, usually ${usual}`}`;
  if (hour.builds === 0)
    return html`<circle class="zero" cx="${ofWidth((place + 0.5) * wide)}" cy="${BASE}" r="3.5"><title>${words}</title></circle>`;
  const top = y(hour.builds);
  const span = { x: ofWidth((place + 0.3) * wide), width: ofWidth(0.4 * wide) };
  return html`<g><title>${words}</title>${drawBar("ink", span, top.toFixed(1), BASE - top)}</g>`;
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

/** When the arrival of builds is red, amber, plain, and not known. */
export const rules = block({
  id: "rules",
  asks: (_: NowScope) => ({}),
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

/** Why it is the builds that stopped, and not the mirror. `looks` says how often it looked since the last of them. */
export const checked = block({
  id: "checked",
  asks: (scope: NowScope) => ({ openCounts: askForOpenCounts(scope) }),
  async draw({ openCounts: [open] }, { now, freshness }, { isQuiet, facts: { arrivals } }: NowSaid, tx) {
    if (!isQuiet) return null;
    const since = new Date(arrivals.lastBuildAt);
    const {
      looked: [looks],
    } = await askEach(tx, { looked: askForLooks(since) });
    const last = sinceWords(arrivals, now);
    const [bad, stuck] = [countIn(looks, "not_whole"), countIn(open, "stuck")];
    const total = looks?.total_count ?? null;
    const progress = `${grouped(countIn(open, "builds"))} in progress`;
    const checks = [
      [
        freshness.isLate ? mark("warn", "look at the mirror") : mark("good", "in order"),
        "The mirror looks",
        span(Math.max(0, now.getTime() - arrivals.lookedAt)),
        `${counted(countIn(looks, "looks"), "look")} since ${last}, ${bad === 0 ? "none failed" : `${grouped(bad)} of them not whole`}`,
      ],
      [
        mark("good", "in order"),
        "The service answers",
        "",
        total === null
          ? "it has not said how many builds it has"
          : `its list counts ${counted(Number(total), "build")}`,
      ],
      [mark("bad", "not in order"), "Builds arrive", "0", `none triggered since ${last}`],
      stuck > 0
        ? [
            mark("stuck", "stuck"),
            html`<a href="/projects?state=stuck">${progress}</a>`,
            agoWords(open?.oldest, now) ?? "",
            `${grouped(stuck)} of them stuck`,
          ]
        : [mark("run", "in progress"), progress, "", "none of them is stuck"],
    ];
    return {
      title: "What was checked",
      body: html`<ul class="rows">${checks.map(
        ([sign, what, figure, small]) =>
          html`<li><span>${sign} ${what}</span><span class="n">${figure}</span><small>${small}</small></li>
`,
      )}</ul>`,
    };
  },
});

/** How often the mirror looked for builds since a moment, and how many the service counts. */
const askForLooks = (since: Date): Question => ask("walks")`
select count(*) as looks, count(*) filter (where not ${walk.is_good}) as not_whole,
  (array_agg(${walk.total_count} order by ${walk.run_id} desc) filter (where ${walk.total_count} is not null))[1] as total_count
from ${walk}
where ${walk.resource} = 'build' and ${walk.finished_at} is not null and ${walk.started_at} > ${since.toISOString()}::timestamptz`;
