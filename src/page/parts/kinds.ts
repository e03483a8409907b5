import { didYouMean } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { counted, grouped } from "../../base/text.ts";
import { ask, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type Asks, askEach, countIn, groupBy, question, sumIn } from "./answers.ts";
import type { Empty } from "./block.ts";
import { type BothPeriods, changeOf, renderShareChange } from "./changes.ts";
import { countsBySpan, drawMiniBars, mostADay, spanNoun, spansOf } from "./charts.ts";
import { html, type Markup, shorten } from "./html.ts";
import { type Link, meantLinks, nearestChoices } from "./links.ts";
import { type Days, dateOf, daysName, dayText, endOfBefore, type Period, rowsIn } from "./period.ts";

const ERROR_KINDS: Readonly<Record<string, readonly [label: string, meaning: string]>> = {
  dependency: ["Missing dependency", "something the build needs is missing, or clashes"],
  docs_source: ["Docs warning", "the documents themselves have a fault"],
  latex_pdf: ["LaTeX error", "only the PDF could not be made"],
  vcs: ["Source not reachable", "the source could not be fetched"],
  memory: ["Out of memory", "it was killed for the memory it used"],
  timeout: ["Timed out", "it took too long"],
  config: ["Wrong settings", "the project's own settings have a fault"],
  infra: ["Platform fault", "the platform failed, not the project"],
  cancelled: ["Cancelled", "somebody stopped it"],
  unclassified: ["Other error", "no rule names its error line"],
};

function kindOf(errorClass: unknown) {
  const name = String(errorClass ?? "unclassified");
  return Object.hasOwn(ERROR_KINDS, name) ? ERROR_KINDS[name] : undefined;
}

/** The name of an error class for people. A class that docmirror does not know is shown as it is. */
export const kindLabel = (errorClass: unknown): string =>
  kindOf(errorClass)?.[0] ?? shorten(String(errorClass), 40);

/** The meaning of an error class, as a part of a sentence; null for a class that docmirror does not know. */
export const kindMeaning = (errorClass: unknown): string | null => kindOf(errorClass)?.[1] ?? null;

/** The kinds that a wrong one may mean, as links. */
export const meantKinds = (wrong: string, kinds: readonly string[], href: (kind: string) => string): Link[] =>
  meantLinks(nearestChoices(wrong, kinds, kindLabel), href, kindLabel);

/** What builds of a kind say, or one build, behind its subject: `say: Timed out`. */
export const saysKind = (name: string, isOne = false): string =>
  name === "unclassified"
    ? `${isOne ? "has" : "have"} an error that no rule names`
    : `${isOne ? "says" : "say"}: ${kindLabel(name)}`;

const kind = relation("error_classes");
const rule = relation("error_rules");

/** All kinds of error: those of the rules, and those of builds. */
export const KINDS: Asks<{ readonly kind: string }> = ask`
select ${rule.class} as kind from ${rule} union select ${kind.error_class} from ${kind} union select 'unclassified'`;

/** Throws ConfigError that names the nearest kinds. */
export async function assertKindKnown(tx: TransactionSql, wrong: string | undefined): Promise<void> {
  if (wrong === undefined) return;
  const { kinds } = await askEach(tx, { kinds: KINDS });
  const names = kinds.map(({ kind }) => kind);
  if (names.includes(wrong)) return;
  const nearest = didYouMean(nearestChoices(wrong, names, kindLabel));
  throw new ConfigError(`there is no kind of error ${wrong}${nearest}`);
}

/** The failures of a kind on a day. */
export interface KindDay {
  readonly day: string;
  readonly error_class: string;
  readonly failures: number;
}

const KIND_DAYS = question<KindDay>("failures_by_day", import.meta.url);

/** The failures of each day by kind, of the period and of the one before it. */
export const askForKinds = ({ start, last }: Period): Asks<KindDay> =>
  KIND_DAYS({ start: dayText(start), last: dayText(last) });

/** A kind of error with its failed builds. */
export interface Kind {
  readonly name: string;
  readonly days: readonly KindDay[];
  /** In the period, and in the one before it. */
  readonly now: number;
  readonly before: number;
}

/** Builds of a kind on the last day before a period, later than the part of its last day that is over; of no kind where they succeeded. */
export interface LateKind {
  readonly error_class: string | null;
  readonly failures: number;
  readonly finished: number;
}

const LATE_KINDS = question<LateKind>("late_builds_by_kind", import.meta.url);

/** Null where the last day of the period is over at `at`: then nothing is left out. */
export function askForLate(period: Period, at: Date): Asks<LateKind> | null {
  const end = endOfBefore(period, at);
  return end && LATE_KINDS({ day: dateOf(period.first - 1), end: end.toISOString() });
}

/** The failures by kind, the most frequent of the period first. What came `late` is not among those of the period before. */
export function kindsOf(rows: readonly KindDay[], period: Days, late: readonly LateKind[] = []): Kind[] {
  return [...groupBy(rows, ({ error_class }) => error_class)]
    .map(([name, days]) => {
      const now = sumIn(rowsIn(days, period), "failures");
      const left = countIn(
        late.find(({ error_class }) => error_class === name),
        "failures",
      );
      return { name, days, now, before: sumIn(days, "failures") - now - left };
    })
    .sort((a, b) => b.now - a.now || b.before - a.before || (a.name < b.name ? -1 : 1));
}

/** Says why there are no failures of some days: nothing is known where no build has finished. */
export const noFailures = (finished: number): Empty =>
  finished === 0
    ? ["unknown", "Not known.", "No build of these days has finished."]
    : [
        "none",
        "None failed.",
        `${counted(finished, "build of these days has", "builds of these days have")} finished.`,
      ];

const HEIGHT = 34;

interface KindRowsFacts {
  readonly kinds: readonly Kind[];
  /** All builds that finished, of whatever result. */
  readonly finished: BothPeriods;
  readonly period: Period;
  /** The address that the name of a kind leads to. */
  href(kind: string): string;
  /** Below the name: what it means, and its newest build. @default nothing */
  small?(kind: string): Markup | string;
  /** One more column. @default none */
  readonly more?: { readonly head: string; cell(kind: string): Markup | string };
  readonly now: Date;
}

/** Kinds of error with their failures by day on one scale, and their share of the finished builds against that of the period before. */
export function renderKindRows({ kinds, finished, period, href, small, more, now }: KindRowsFacts): Markup {
  const spans = spansOf(period);
  const rows = kinds.map((kind) => ({ ...kind, counts: countsBySpan(spans, kind.days) }));
  const most = Math.max(0, ...rows.map(({ counts }) => mostADay(counts)));
  const noun = spanNoun(spans);
  const isKnown = period.before !== null;
  const five = more && " five";
  const shown = daysName({ first: period.start, last: period.last }, now);
  return html`<div class="multi-head${five}" aria-hidden="true"><span>Error</span>
    <span>Failed builds ${noun === "day" ? "a day" : `by ${noun}`}, ${shown}; one scale for all</span>
    <span>Builds</span>${more && html`<span>${more.head}</span>`}
    <span>${isKnown && "Change of share"}</span></div>
<ul class="multi${five}">${rows.map(({ name, counts, now: failures, before }) => {
    const told = `${kindLabel(name)}: ${counted(failures, "failed build")} on ${daysName(period, now)}${isKnown ? `, ${grouped(before)} before` : ""}`;
    const look = isKnown && changeOf({ now: failures, before }, finished) > 0 ? "m-bad" : "m-ink";
    return html`<li><span><a href="${href(name)}">${kindLabel(name)}</a>
      ${small && html`<small>${small(name)}</small>`}</span>
      ${drawMiniBars({ counts, most, height: HEIGHT, told, look, now })}
      <span class="n">${grouped(failures)}${isKnown && html`<small>${grouped(before)} before</small>`}</span>
      ${more && html`<span class="n">${more.cell(name)}</span>`}
      <span>${isKnown && renderShareChange({ now: failures, before }, finished)}</span></li>
`;
  })}</ul>`;
}
