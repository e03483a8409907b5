import { type SQL, sql } from "drizzle-orm";
import { ConfigError } from "../../base/errors.ts";
import { ask, relation } from "../../report/ask.ts";
import { parseTime, readTimeBounds } from "../../report/time-bounds.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach } from "./answers.ts";
import type { PageMoment } from "./freshness.ts";
import { html, type Markup } from "./html.ts";
import { type Chip, keptFields, type Query, renderChips, withQuery } from "./links.ts";
import { DAY_MS, dayWords, when } from "./marks.ts";

/** The days of a period that nobody chose. */
const USUAL_DAYS = 14;

/** The UTC days of a span, both included, as whole days since 1970. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

/** The first and the last day that a reader chose, such as 2026-11-03. */
export interface PeriodChoice {
  readonly since: string | undefined;
  readonly until: string | undefined;
}

/** The period that a page is about. */
export interface Period extends Days {
  readonly days: number;
  /** As many days before it; null where the mirror does not know builds of all of them. */
  readonly before: Days | null;
  /** The first of the days that are drawn: of `before`, else of the period. */
  readonly start: number;
  /** The first day with a known build. */
  readonly known: number;
  /** The day that a period ends with where no other end is chosen. */
  readonly usualLast: number;
}

/**
 * The days that `since` and `until` of a query mean, as days, so that a moment is one of few values; an empty one is
 * none. Throws ConfigError where one is no time.
 */
export function readPeriodChoice(query: URLSearchParams): PeriodChoice {
  const given = (name: string) => query.get(name)?.trim() || undefined;
  const { from, before } = readTimeBounds({ since: given("since"), until: given("until") }, "day");
  return {
    since: from === null ? undefined : from.slice(0, 10),
    until: before === null ? undefined : dayText(Math.ceil(Date.parse(before) / DAY_MS) - 1),
  };
}

/**
 * The period of a choice, within the days that the mirror knows: `firstDay`, such as 2026-11-03, to the moment of
 * the page. `takesToday` says whether the usual period ends with the day of that moment. Null where nothing of it is known.
 */
export function resolvePeriod(
  choice: PeriodChoice,
  firstDay: string,
  { at }: PageMoment,
  takesToday = false,
): Period | null {
  const known = dayNumber(firstDay);
  const today = dayOf(at.getTime());
  // A mirror that knows one day shows that.
  const usualLast = takesToday || today === known ? today : today - 1;
  const since = choice.since === undefined ? null : dayNumber(choice.since);
  // So does a reader who asks for what is not over.
  const usual = since !== null && since > usualLast ? today : usualLast;
  const last = choice.until === undefined ? usual : Math.min(today, dayNumber(choice.until));
  const first = Math.max(known, since ?? last - USUAL_DAYS + 1);
  return first > last ? null : periodOf(first, last, known, usualLast);
}

function periodOf(first: number, last: number, known: number, usualLast: number): Period {
  const days = last - first + 1;
  const before = first - days >= known ? { first: first - days, last: first - 1 } : null;
  return { first, last, days, before, start: before?.first ?? first, known, usualLast };
}

/** The same period, no longer than so many days: the last of them. */
export const shortenPeriod = (period: Period, most: number): Period =>
  period.days <= most
    ? period
    : periodOf(period.last - most + 1, period.last, period.known, period.usualLast);

/**
 * Where the last day of a period is not over at `at`, a part of a day is compared with the same part of the last day before: that ends at this
 * moment. Null where all days are over, or nothing is compared.
 */
export function endOfBefore({ last, days, before }: Period, at: Date): Date | null {
  return before !== null && last === dayOf(at.getTime()) ? new Date(at.getTime() - days * DAY_MS) : null;
}

/** Says that a day which is not over is compared with a part of a day. */
export function partWords(period: Period, at: Date, now: Date): string | undefined {
  const end = endOfBefore(period, at);
  return end === null
    ? undefined
    : `The last day is not over, so the days before are counted up to ${when(end, now)} only.`;
}

const dayOf = (ms: number): number => Math.floor(ms / DAY_MS);

/** A day as Postgres writes it: 2026-11-03. */
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** The number of a day that Postgres wrote. */
export const dayNumber = (text: unknown): number => dayOf(Date.parse(String(text)));

/** The rows of some days. */
export function rowsIn<R extends { readonly day: string }>(rows: readonly R[], { first, last }: Days): R[] {
  const [from, to] = [dayText(first), dayText(last)];
  return rows.filter(({ day }) => day >= from && day <= to);
}

/** A day for people: `3 Nov`. */
export const dayName = (day: number, now: Date): string => dayWords(day * DAY_MS, now);

/** Days for people: `8–21 Nov`, `25 Oct – 7 Nov`, or one day. */
export function daysName({ first, last }: Days, now: Date): string {
  const [from, to] = [dayName(first, now), dayName(last, now)];
  if (from === to) return from;
  const [day = "", ...month] = from.split(" ");
  return to.endsWith(` ${month.join(" ")}`) ? `${day}–${to}` : `${from} – ${to}`;
}

/** The length of a period, for a sentence: `14 days`, `one day`. */
export const lengthWords = (days: number): string =>
  days === 1 ? "one day" : `${days.toLocaleString("en-US")} days`;

const date = relation("dim_dates");

/** The first day with a known build. */
export const FIRST_DAY: Asks<{ readonly first_day: string | null }> =
  ask`select min(${date.day}) as first_day from ${date}`;

/** A day of a period as a date. */
export const dateOf = (day: number): SQL => sql`${dayText(day)}::date`;

/** The period of a choice. Throws ConfigError where no build of it is known: an empty file would look like an answer. */
export async function findPeriod(
  tx: TransactionSql,
  choice: PeriodChoice,
  moment: PageMoment,
  takesToday = false,
): Promise<Period> {
  const { days } = await askEach(tx, { days: FIRST_DAY });
  const firstDay = days[0]?.first_day;
  const period = firstDay && resolvePeriod(choice, firstDay, moment, takesToday);
  if (period) return period;
  throw new ConfigError("no build of these days is known");
}

const CHIP_DAYS = [7, 14, 30, 90];

/**
 * The usual periods; those longer than what is known are left out. `kept` are the other
 * filters.
 */
function renderPeriodChips(path: string, period: Period, choice: PeriodChoice, kept: Query): Markup {
  const { known, usualLast, days, last } = period;
  const since = (length: number) => dayText(usualLast - length + 1);
  const all = usualLast - known + 1;
  const chips = CHIP_DAYS.filter((length) => length < all).map(
    (length) => [since(length), `${length} days`] as const,
  );
  const chosen = choice.until === undefined && last === usualLast ? since(days) : "none";
  const href = (since: string) => withQuery(path, { ...kept, since });
  return renderChips("How many days", [...chips, [since(all), "All"]], chosen, href);
}

/** A field for a day, from `first` on and up to `last` where these are days. */
function dayInput(name: string, label: string, value: string, first: number, last = Number.NaN) {
  const bound = (name: string, day: number) => Number.isFinite(day) && html` ${name}="${dayText(day)}"`;
  return html`<label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${value}"${bound("min", first)}${bound("max", last)}>`;
}

/**
 * The choice of days: the usual periods as links, and the first and the last day as a form. `kept` are the other choices,
 * `fields` those of them that the form keeps or has fields for.
 */
export function renderPeriodBar(
  path: string,
  period: Period,
  choice: PeriodChoice,
  kept: Query,
  fields: Markup,
  more: Markup | string = "",
): Markup {
  const { first, last, known } = period;
  return html`<div class="bar controls">${renderPeriodChips(path, period, choice, kept)}
<form action="${path}" aria-label="Days">${dayInput("since", "From", dayText(first), known)}
    ${dayInput("until", "to", dayText(last), known)}${fields}<button>Show</button></form>
${more}</div>`;
}

// One day of the past, as it was at its end by what is known now: one rule for its pages, files and feeds.

/** The `day` of a query as 2026-11-03; undefined for none. Throws ConfigError where it is no time. */
export function readDayChoice(query: URLSearchParams): string | undefined {
  const text = query.get("day")?.trim();
  return text ? new Date(parseTime("day", text).moment).toISOString().slice(0, 10) : undefined;
}

/** The days that can be shown are those from `first` to `last`. */
interface FoundDay extends Days {
  /** The end of the chosen day; the given moment without a day, or with one that cannot be shown. */
  readonly moment: PageMoment;
  /** Says why the day cannot be shown. */
  readonly refusal: string | null;
}

/** Finds the moment of a page about the end of `day`. */
export async function findDay(
  tx: TransactionSql,
  day: string | undefined,
  moment: PageMoment,
): Promise<FoundDay> {
  const { days: known } = await askEach(tx, { days: FIRST_DAY });
  const { now, freshness } = moment;
  const lookedMs = freshness.asOf?.getTime() ?? Number.NaN;
  const first = dayNumber(known[0]?.first_day);
  const found = { moment, first, last: Math.floor(lookedMs / DAY_MS) - 1, refusal: null };
  if (day === undefined) return found;
  const number = dayNumber(day);
  const name = dayName(number, now);
  const end = (number + 1) * DAY_MS;
  const refused = (refusal: string) => ({ ...found, refusal });
  const looked = Number.isNaN(lookedMs) ? "an unknown time" : `${when(lookedMs, now)} UTC`;
  const from = Number.isNaN(first) ? "no day" : dayName(first, now);
  if (end > now.getTime()) return refused(`${name} is not over yet.`);
  if (!(end <= lookedMs)) return refused(`The mirror last looked at ${looked}, before ${name} was over.`);
  if (!(number >= first)) return refused(`The first build that the mirror knows is of ${from}.`);
  const past = { now: new Date(end), at: new Date(end - 1), isNow: false, day: { text: day, name } };
  return { ...found, moment: { ...moment, ...past, freshness: { ...freshness, isStale: false } } };
}

/** The same for what has no words for a refusal, such as a file. Throws ConfigError. */
export async function findDayMoment(tx: TransactionSql, day: string | undefined, moment: PageMoment) {
  const found = await findDay(tx, day, moment);
  if (found.refusal !== null) throw new ConfigError(`nothing can be said of ${day}: ${found.refusal}`);
  return found.moment;
}

/** Now, the days around the shown one, and a form for any other. `kept` are the other choices; `now` is the reader's. */
export function renderDays({ first, last }: FoundDay, day: string | undefined, kept: Query, now: Date) {
  const shown = day === undefined ? last + 1 : dayNumber(day);
  const near = [shown - 1, shown, shown + 1].filter((one) => one >= first && one <= last);
  const chips: Chip<string | undefined>[] = near.map((one) => [dayText(one), dayName(one, now)]);
  return html`<div class="bar controls">
${renderChips("Which day", [[undefined, "Now"], ...chips], day, (day) => withQuery("/", { ...kept, day }))}
<form action="/" aria-label="Day">${keptFields(kept)}
    ${dayInput("day", "How was it on", day ?? "", first, last)}<button>Look</button></form></div>`;
}
