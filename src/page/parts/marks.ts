import { raw } from "hono/html";
import { html, type Markup, shorten } from "./html.ts";

/**
 * The states: `bad` main docs fail, `bad2` another version or format fails, `rises` an error line that does, `alarm` stopped,
 * `good`, `stuck`, `run` in progress, `warn` look here, `idle` not known, `flat` neither good nor bad.
 */
export const ICONS = {
  bad: "x",
  bad2: "x",
  alarm: "bang",
  rises: "up",
  good: "check",
  stuck: "stuck",
  run: "run",
  warn: "bang",
  idle: "q",
  flat: "same",
} as const satisfies Record<string, IconName>;

export type MarkKind = keyof typeof ICONS;

/** A state as a shape with a sign, and its word for those who do not see it. */
export function mark(kind: MarkKind, word: string, size: "small" | "big" = "small"): Markup {
  const big = size === "big" ? " big" : "";
  return html`<span class="st ${kind}${big}">${icon(ICONS[kind])}<span class="unseen">${word}</span></span>`;
}

/** A state and its word. */
export type Mark = readonly [kind: MarkKind, word: string];

/** The mark of each outcome in `report.fact_builds`. */
const OUTCOMES: Readonly<Record<string, Mark>> = {
  succeeded: ["good", "succeeded"],
  failed: ["bad", "failed"],
  open: ["run", "in progress"],
  stuck: ["stuck", "stuck"],
  vanished: ["idle", "vanished"],
  cancelled: ["flat", "cancelled"],
};

/** The mark and the word of an outcome. One that is not known has a question mark and "state not known". */
export function outcomeMark(outcome: unknown): Mark {
  const known = Object.hasOwn(OUTCOMES, String(outcome)) ? OUTCOMES[String(outcome)] : undefined;
  return known ?? ["idle", "state not known"];
}

/** The same, drawn. */
export const outcomeSign = (outcome: unknown): Markup => mark(...outcomeMark(outcome));

const STROKES = {
  x: "M4.2 4.2l7.6 7.6M11.8 4.2l-7.6 7.6",
  check: "M3.2 8.6l3.2 3.2 6.4-7.4",
  stuck: "M5.6 4.2v7.6M10.4 4.2v7.6",
  run: "M8 4.4V8l2.6 1.8",
  q: "M5.6 6.1c0-1.5 1.1-2.3 2.4-2.3s2.4.8 2.4 2.1c0 1.7-2.4 1.9-2.4 3.6M8 12.1v.2",
  bang: "M8 3.6v5.4M8 12v.3",
  up: "M8 12.5v-9M4 7.2l4-4 4 4",
  down: "M8 3.5v9M4 8.8l4 4 4-4",
  same: "M3 6h10M3 10h10",
  out: "M6 3.5H3.5v9h9V10M9 3.5h3.5V7M12.5 3.5L7.5 8.5",
  find: "M10.6 10.6L14 14M12 7a5 5 0 1 1-10 0 5 5 0 0 1 10 0z",
  prev: "M10 3.5L5.5 8l4.5 4.5",
  next: "M6 3.5L10.5 8 6 12.5",
} as const;

type IconName = keyof typeof STROKES;

/** An icon, as high as the text around it. It says nothing by itself: words stand beside it. */
export const icon = (name: IconName): Markup =>
  html`<svg class="i" aria-hidden="true"><use href="#i-${name}"/></svg>`;

/** The icons, and the patterns `hatch`, `hatch-bad` and `dots` of the charts: each page has them once. */
export const SPRITE: Markup = html`<svg class="sprite" aria-hidden="true" focusable="false">
<defs>
<pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
  <rect width="5" height="5" class="h-back"/><rect width="2.2" height="5" class="h-line"/></pattern>
<pattern id="hatch-bad" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
  <rect width="5" height="5" class="m-bad"/><rect width="1.5" height="5" class="h-gap"/></pattern>
<pattern id="dots" width="4" height="4" patternUnits="userSpaceOnUse">
  <rect width="4" height="4" class="h-back"/><rect width="1.6" height="1.6" class="h-line"/></pattern>
</defs>
${Object.entries(STROKES).map(
  ([name, path]) => html`<symbol id="i-${name}" viewBox="0 0 16 16"><path d="${raw(path)}"/></symbol>
`,
)}</svg>`;

const COLOURS = { bad: "cf3f2e", good: "2f8264", warn: "b27100", idle: "5d6878" } as const;
const SIGNS = { bad: STROKES.x, good: STROKES.check, warn: STROKES.bang, idle: STROKES.q } as const;

export type Tone = keyof typeof COLOURS;

/** The icon of a browser's tab, as an address: it says the verdict too. */
export function favicon(tone: Tone): string {
  const square = `<rect width='16' height='16' rx='4' fill='#${COLOURS[tone]}'/>`;
  const sign = `<path d='${SIGNS[tone]}' fill='none' stroke='white' stroke-width='2' stroke-linecap='round'/>`;
  const shape = `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'>${square}${sign}</svg>`;
  return `data:image/svg+xml,${shape.replaceAll("#", "%23").replaceAll("<", "%3C").replaceAll(">", "%3E")}`;
}

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A moment as Postgres prints it in UTC, or as milliseconds or a date already, in milliseconds; NaN where JavaScript has no such moment. */
export function momentMs(moment: unknown): number {
  if (typeof moment === "number" || moment instanceof Date) return Number(moment);
  return Date.parse(
    String(moment)
      .replace(" ", "T")
      .replace(/\+00(?::00)?$/, "Z"),
  );
}

/** A span in one unit: `12 min`, `24 h`, `3 d`. Hours go on to two days. A shorter one than a minute is `< 1 min`. */
export function span(ms: number): string {
  if (ms < MINUTE_MS) return "<\u00a01\u00a0min";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)}\u00a0min`;
  if (ms < 2 * DAY_MS) return `${Math.floor(ms / HOUR_MS)}\u00a0h`;
  return `${Math.floor(ms / DAY_MS).toLocaleString("en-US")}\u00a0d`;
}

/** The span from one moment to another; null where one of them is not known. */
export function spanBetween(from: unknown, to: unknown): string | null {
  const ms = momentMs(to) - momentMs(from);
  return Number.isNaN(ms) ? null : span(ms);
}

/** A moment for people: `22 Nov 01:12`, with its year where that is not the year of `now`. In UTC. */
export const when = (moment: unknown, now: Date): string =>
  Number.isNaN(momentMs(moment)) ? "at an unknown time" : `${dayWords(moment, now)} ${clockWords(moment)}`;

/** The UTC day of a moment: `22 Nov`, with its year where that is not the year of `now`. */
export function dayWords(moment: unknown, now: Date): string {
  const at = new Date(momentMs(moment));
  const year = at.getUTCFullYear() === now.getUTCFullYear() ? "" : ` ${at.getUTCFullYear()}`;
  return `${at.getUTCDate()} ${MONTHS[at.getUTCMonth()]}${year}`;
}

/** The UTC time of a moment: `01:12`. */
export const clockWords = (moment: unknown): string => secondWords(moment).slice(0, 5);

/** The UTC time of a moment with its seconds: `01:12:30`. */
export const secondWords = (moment: unknown): string => isoOf(momentMs(moment)).slice(11, 19);

/** The time since a moment of Postgres, such as `3 d`, with the moment itself behind it; a dash where there is none. */
export const age = (moment: unknown, now: Date): Markup =>
  timeTag(moment, (ms) => ageTag(ms, now, span(now.getTime() - ms)));

/** The same for a sentence: `3 d ago`; null where it is not known. Counted to another end, `from` says to which. */
export const ago = (moment: unknown, now: Date, from = "ago"): Markup | null =>
  knownAge(moment, now, (age) => `${age} ${from}`, "at ");

/** For how long something has been so: `for 3 d`; null where it is not known. */
export const forLong = (moment: unknown, now: Date): Markup | null =>
  knownAge(moment, now, (age) => `for ${age}`, "since ");

function knownAge(moment: unknown, now: Date, words: (age: string) => string, lead: string): Markup | null {
  const ms = momentMs(moment);
  return Number.isNaN(ms) ? null : ageTag(ms, now, words(span(now.getTime() - ms)), lead);
}

/** A moment of Postgres for people, such as `22 Nov 01:12`; a dash where there is none. */
export const momentTag = (text: unknown, now: Date): Markup =>
  timeTag(
    text,
    (ms) => html`<time datetime="${isoOf(ms)}" title="${when(ms, now)} UTC">${when(ms, now)}</time>`,
  );

function timeTag(text: unknown, draw: (ms: number) => Markup): Markup {
  if (text === null || text === undefined) return html`<span class="quiet">–</span>`;
  const ms = momentMs(text);
  return Number.isNaN(ms) ? html`<span>${shorten(String(text))}</span>` : draw(ms);
}

const isoOf = (ms: number): string => new Date(ms).toISOString();

/** An age is true for a minute. Its title has the moment in words that can stand in its place, for a page that is not drawn again. */
const ageTag = (ms: number, now: Date, words: string, lead = ""): Markup =>
  html`<time class="age" datetime="${isoOf(ms)}" title="${lead}${when(ms, now)} UTC">${words}</time>`;

const AGES = /<time class="age"([^>]* title="([^"]*?) UTC">)[^<]*/g;

/** A page with moments in place of ages: they stay true in a file. */
export const withoutAges = (page: string): string => page.replace(AGES, '<time class="at"$1$2');
