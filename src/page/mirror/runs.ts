import { counted, grouped } from "../../base/text.ts";
import { ask } from "../../report/ask.ts";
import { type Asks, countIn, piece, questionsOf, sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { drawTimeline, keyEntry, levelLine, renderKey, timeAxis, uprightLine } from "../parts/charts.ts";
import type { PageMoment } from "../parts/freshness.ts";
import { foreign, html, type Markup } from "../parts/html.ts";
import {
  clockWords,
  HOUR_MS,
  type MarkKind,
  MINUTE_MS,
  mark,
  momentMs,
  momentTag,
  when,
} from "../parts/marks.ts";
import { numberColumn, renderListTable, renderState } from "../parts/tables.ts";

/** Runs; rounds of the watch that followed each other are one row. A page has the newest 2,000 of them: more than a watch makes in a day. */
const RUNS = piece("grouped_runs", import.meta.url);

export const mirrorQuestion = questionsOf(import.meta.url, ({ now }: PageMoment) => ({
  now: now.toISOString(),
}));

const LOOKS = mirrorQuestion<RunRow>("looks_of_day");

/** A run, or rounds of the watch that followed each other; the status and the reason are those of the last. */
export interface RunRow {
  readonly kind: string;
  readonly runs: number;
  readonly first_run_id: number;
  readonly last_run_id: number;
  readonly started_at: string;
  readonly ended_at: string;
  readonly status: string;
  readonly reason: string | null;
  readonly troubled: number;
  readonly requests: number | null;
  readonly inserted: number | null;
  readonly updated: number | null;
  readonly deleted: number | null;
}

export const askForRuns = (): Asks<RunRow> => ask`${RUNS()}\norder by last_run_id desc`;

/** The number of readings of lists, and of runs; the rounds of the watch are included. */
interface CountsRow {
  readonly walks: number | null;
  readonly runs: number | null;
  readonly not_good: number;
}

export const askForCounts = mirrorQuestion<CountsRow>("runs_and_walks");

const [SYNC_Y, WATCH_Y, HEIGHT] = [20, 56, 72];
const SPAN_MS = 25 * HOUR_MS;
/** Beyond the moment of now, so that what happened right then is not cut. */
const AHEAD_MS = 35 * MINUTE_MS;
/** A watch looks once a minute. */
const GAP_MS = 5 * MINUTE_MS;
/** The signs of syncs, around their middle: one that succeeded, one that did not, and one that is under way and has not succeeded yet. */
const SIGNS = {
  good: html`<circle class="m-good" r="9"/><path class="tickmark" d="M-3.6 .2l2.6 2.6 4.8-5.2"/>`,
  bad: html`<rect class="m-bad" x="-9" y="-9" width="18" height="18" rx="4"/><path class="tickmark" d="M-3 -3l6 6M3 -3l-6 6"/>`,
  run: html`<circle class="m-open" r="7"/>`,
};

/** The looks of the mirror at the service in the last day: syncs, and spells of the watch. */
export const looks = block({
  id: "looks",
  asks: (_: PageMoment) => ({ rows: askForRuns() }),
  file: (moment) => LOOKS(moment, { runs: RUNS() }),
  draw({ rows: groups }, { now, isFile }) {
    const since = now.getTime() - SPAN_MS;
    const lately = groups.filter(({ ended_at }) => momentMs(ended_at) > since).toReversed();
    const [syncs, spells] = [lately.filter((row) => !isWatch(row)), lately.filter(isWatch)];
    const axis = timeAxis(since, now.getTime() + AHEAD_MS, now);
    const last = Math.max(since, ...spells.map(({ ended_at }) => momentMs(ended_at)));
    const failed = syncs.filter((row) => !isWell(row)).length;
    const running = syncs.filter(isRunning).length;
    const badWords = `${failed > 0 ? `, ${failed} of them not successful` : ""}${running > 0 ? `, ${running} of them under way` : ""}`;
    const noneWords =
      now.getTime() - last > GAP_MS ? `; none since ${spells.length === 0 ? "then" : when(last, now)}` : "";
    const watchWords = `${counted(sumIn(spells, "runs"), "round")} of the watch in ${counted(spells.length, "spell")}`;
    const gaps = gapsBetween(spells, since, now.getTime());
    return {
      title: "When the mirror looked",
      count: "24 hours",
      body: html`${drawTimeline({
        names: [
          { y: SYNC_Y + 4, words: "Syncs" },
          { y: WATCH_Y + 4, words: "Watch" },
        ],
        height: HEIGHT,
        room: 38,
        told: `In the 24 hours up to ${when(now, now)}: ${counted(syncs.length, "sync")}${badWords}, and ${watchWords}${noneWords}.`,
        axis,
        body: html`${levelLine(SYNC_Y)}${levelLine(WATCH_Y)}
${syncs.map((row) => drawSync(row, axis.x(momentMs(row.started_at)), now))}
${spells.map((row) => drawSpell(row, axis.at(momentMs(row.started_at)), axis.at(momentMs(row.ended_at))))}
${gaps.map(
  ([from, to]) => html`<rect fill="url(#hatch)" x="${axis.x(from)}"
    width="${(axis.at(to) - axis.at(from)).toFixed(2)}%" y="${WATCH_Y - 5}" height="10"/>`,
)}
${uprightLine(axis.x(now.getTime()), HEIGHT)}<text class="end" x="100%" y="${HEIGHT + 32}">${isFile ? when(now, now) : "now"}</text>`,
      })}
${renderKey(keyOf(syncs, gaps.length > 0))}`,
    };
  },
});

type Gap = readonly [from: number, to: number];

/** The times in which nobody looked for longer than a watch does between two rounds; the spells in their order. */
function gapsBetween(spells: readonly RunRow[], since: number, until: number): Gap[] {
  let seen = since;
  const ends = [
    ...spells.map((row) => [momentMs(row.started_at), momentMs(row.ended_at)] as const),
    [until, until] as const,
  ];
  return ends.flatMap(([from, to]) => {
    const gap: Gap[] = from - seen > GAP_MS ? [[seen, from]] : [];
    seen = Math.max(seen, to);
    return gap;
  });
}

const isWatch = ({ kind }: RunRow): boolean => kind === "watch";
const isRunning = ({ status }: RunRow): boolean => status === "running";
const isWell = (row: RunRow): boolean => row.status === "succeeded" || isRunning(row);

function drawSync(row: RunRow, x: string, now: Date): Markup {
  const title = `${row.kind}, ${when(row.started_at, now)}: ${row.status}`;
  const sign = SIGNS[isRunning(row) ? "run" : isWell(row) ? "good" : "bad"];
  return html`<g><title>${title}</title><svg x="${x}" y="${SYNC_Y}" overflow="visible">${sign}</svg></g>`;
}

function drawSpell({ started_at, ended_at, runs, troubled }: RunRow, from: number, to: number): Markup {
  const [first, last] = [clockWords(started_at), clockWords(ended_at)];
  return html`<g><title>${counted(runs, "round")}, ${first} to ${last}${troubled > 0 && `, ${troubled} not successful`}</title>
    <rect class="m-good" x="${from.toFixed(2)}%" width="${Math.max(0.4, to - from).toFixed(2)}%"
    y="${WATCH_Y - 7}" height="14" rx="2"/></g>`;
}

function keyOf(syncs: readonly RunRow[], hasGaps: boolean): (Markup | false)[] {
  const look = html`<rect class="m-good" width="22" height="12" rx="2"/>`;
  const sign = (kind: keyof typeof SIGNS, words: string) =>
    keyEntry([18, 18], html`<g transform="translate(9 9)">${SIGNS[kind]}</g>`, words);
  return [
    syncs.some(({ status }) => status === "succeeded") && sign("good", "sync that succeeded"),
    !syncs.every(isWell) && sign("bad", "sync that did not"),
    syncs.some(isRunning) && sign("run", "sync under way"),
    keyEntry([22, 12], look, "a look at the builds each minute"),
    hasGaps && keyEntry([22, 10], html`<rect fill="url(#hatch)" width="22" height="10"/>`, "no look"),
  ];
}

const MOST_GROUPS = 12;
const RUN_KINDS: Readonly<Record<string, string>> = {
  full: "Sync, all lists from end to end",
  incremental: "Sync, of the builds only the new ones",
  quarantine: "Quarantine, tried again",
  repair: "Repair of what a check found",
};
const STATUS_MARKS: ReadonlyMap<string, MarkKind> = new Map([
  ["succeeded", "good"],
  ["running", "run"],
  ["partial", "warn"],
  ["failed", "bad"],
  ["interrupted", "bad"],
]);

/** The words for a name; one that nobody explained is itself. */
export const wordsOf = (words: Readonly<Record<string, string>>, name: string): string =>
  (Object.hasOwn(words, name) ? words[name] : undefined) ?? name;

/** The last runs with what they did; rounds of the watch that followed each other are one row. */
export const runs = block({
  id: "runs",
  asks: (moment: PageMoment) => ({ rows: askForRuns(), counts: askForCounts(moment) }),
  draw({ rows, counts: [counts] }, { now }) {
    return {
      title: "Runs",
      count: grouped(countIn(counts, "runs")),
      empty: rows.length === 0 && ["unknown", "No run has begun.", "docmirror sync begins one."],
      body: renderListTable<RunRow>({
        caption: "Runs",
        columns: [
          { head: "Run", isName: true, cell: renderRun },
          { head: "End", cell: renderEnd },
          numberColumn("Began", ({ started_at }) => momentTag(started_at, now)),
          numberColumn("Requests", (row) => (isRunning(row) ? null : (row.requests ?? 0))),
          numberColumn("New", ({ inserted }) => inserted ?? 0),
          numberColumn("Changed", ({ updated }) => updated ?? 0),
          numberColumn("Gone", (row) => row.deleted ?? 0),
        ],
        rows: rows.slice(0, MOST_GROUPS),
      }),
    };
  },
});

const renderRun = ({ kind, runs, first_run_id: first, last_run_id: last }: RunRow): Markup =>
  html`${kind === "watch" ? `Watch, ${counted(runs, "round")}` : wordsOf(RUN_KINDS, kind)}
    <small>${first === last ? last : `${first} to ${last}`}</small>`;

const renderEnd = ({ status, reason, troubled, runs }: RunRow): Markup =>
  renderState(
    mark(STATUS_MARKS.get(status) ?? "idle", status),
    html`${status}${troubled > 0 && runs > 1 && `, ${grouped(troubled)} not`}${
      reason !== null && html` <small>${foreign(reason, 200)}</small>`
    }`,
  );
