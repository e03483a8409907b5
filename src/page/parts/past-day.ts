/** One day of the past, as it was at its end by what is known now. One reader and one rule for the pages, files and feeds of it. */
import { ConfigError } from "../../base/errors.ts";
import { parseTime } from "../../report/time-bounds.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "./answers.ts";
import { type Chip, keptFields, renderChips } from "./choices.ts";
import { html } from "./html.ts";
import type { Query } from "./links.ts";
import { DAY_MS, when } from "./marks.ts";
import type { PageMoment } from "./page-moment.ts";
import { dayInput, dayName, dayNumber, dayText, FIRST_DAY } from "./period.ts";

/** The `day` of a query as 2026-11-03; undefined for none. Throws ConfigError where it is no time. */
export function readDayChoice(query: URLSearchParams): string | undefined {
  const text = query.get("day")?.trim();
  return text ? new Date(parseTime("day", text).moment).toISOString().slice(0, 10) : undefined;
}

type FoundDay = Awaited<ReturnType<typeof findDay>>;

/**
 * The moment of a page about the end of `day`, or the given one without a day; `refusal` says why such a day cannot be shown. `first` and
 * `last` are the days that can.
 */
export async function findDay(tx: TransactionSql, day: string | undefined, moment: PageMoment) {
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
  const chips = near.map((one): Chip => ({ label: dayName(one, now), value: dayText(one) }));
  return html`<div class="bar controls">
${renderChips({ label: "Which day", path: "/", name: "day", chosen: day, kept, chips: [{ label: "Now", value: undefined }, ...chips] })}
<form action="/" aria-label="Day">${keptFields(kept)}
    ${dayInput("day", "How was it on", day ?? "", first, last)}<button>Look</button></form></div>`;
}
