/** The failures and the rate of a period by kind of error and by format, and without the faults of the platform. */
import { sql } from "drizzle-orm";
import { counted, grouped } from "../../base/text.ts";
import { ask, askFor, inline } from "../../report/ask.ts";
import { type Asks, countIn, sumIn } from "../parts/answers.ts";
import { block } from "../parts/block.ts";
import { type Count, finishedOf, rateChange, rateDot, shareWords } from "../parts/changes.ts";
import { foreign, html, type Markup, sentences, wholePercent } from "../parts/html.ts";
import { askForHoursLookedAt, type Incident } from "../parts/incidents.ts";
import {
  askForKinds,
  askForLate,
  type KindDay,
  kindsOf,
  noFailures,
  renderKindRows,
} from "../parts/kinds.ts";
import { withQuery } from "../parts/links.ts";
import { mark, momentTag } from "../parts/marks.ts";
import { dateOf, daysName, dayText } from "../parts/period.ts";
import { type Column, numberColumn, renderListTable, renderRows } from "../parts/tables.ts";
import { askForDays, LATE_DAYS, lateOf, plainOf, type TrendsScope, trendsQuestion } from "./trends-scope.ts";

/** The kinds of error, day by day. */
export const why = block({
  id: "why",
  asks: (scope: TrendsScope) => ({ ...askForKindsOf(scope), days: askForDays(scope) }),
  file: (scope) => askForKindsOf(scope).kinds,
  draw({ kinds: found, late, days }, { period, choice: { since, until }, now }) {
    const kinds = kindsOf(found, period, late);
    const finished = finishedOf(days, period);
    return {
      title: "Why builds fail",
      count: grouped(sumIn(kinds, "now")),
      empty: kinds.length === 0 && noFailures(finished.now),
      body: renderKindRows({
        kinds,
        finished,
        period,
        href: (kind) => withQuery("/errors", { since, until, kind }),
        now,
      }),
    };
  },
});

const KINDS_OF_FORMAT = trendsQuestion<KindDay>("kinds_of_format");

/** The failures of each day by kind; `late` are those that are not compared, because a part of a day is. */
export const askForKindsOf = (scope: TrendsScope) => ({
  kinds: scope.type === undefined ? askForKinds(scope.period) : KINDS_OF_FORMAT(scope),
  late: scope.type === undefined ? askForLate(scope.period, scope.at) : null,
});

/** A format with its counts of the period, and of the one before where that is asked for. */
interface FormatRow extends Count {
  readonly type: string;
  readonly finished_before?: number;
  readonly succeeded_before?: number | null;
}

const beforeOf = ({ succeeded_before = 0, finished_before = 0 }: FormatRow): Count => ({
  succeeded: succeeded_before,
  finished: finished_before,
});

/** The rate of each format, against the period before; of all time for a long period. */
export const formats = block({
  id: "formats",
  asks: (scope: TrendsScope) => ({ rows: askForFormats(scope) }),
  draw({ rows }, scope) {
    const {
      period,
      choice: { since, until },
      now,
    } = scope;
    const about = formatsAbout(scope);
    const isAllTime = about === "all time";
    const columns: Column<FormatRow>[] = [
      {
        head: "Format",
        isName: true,
        cell: ({ type }) =>
          type === "(none)"
            ? "not known"
            : html`<a href="${withQuery("/trends", { since, until, type })}">${foreign(type, 24)}</a>`,
      },
      {
        head: isAllTime ? "Succeeded, of all known builds" : `Succeeded, ${daysName(period, now)}`,
        place: "wide",
        cell: rateDot,
      },
    ];
    const ofBefore: Column<FormatRow>[] = [
      numberColumn("Before", (row) => shareWords(beforeOf(row), wholePercent)),
      { head: "Change", cell: (row) => rateChange(row, beforeOf(row), false) },
    ];
    const shown = rows.filter((row) => row.finished || row.finished_before);
    return {
      title: "By format",
      ...(isAllTime && {
        note: "Of all known builds: these figures ignore the dates, because the period is long.",
      }),
      empty: shown.length === 0 && ["unknown", "Not known.", "No build of this period has finished."],
      body: renderListTable({
        caption: "Success by format",
        columns: about === "both periods" ? [...columns, ...ofBefore] : columns,
        rows: shown,
      }),
    };
  },
});

/**
 * The days that the rates of the formats are about. For more than 14 days nothing before is counted, and for more than 31 days,
 * or beside the builds of one format, they are those of all time.
 */
function formatsAbout({ period, type }: TrendsScope): "both periods" | "the period" | "all time" {
  if (period.days <= 14) return period.before === null ? "the period" : "both periods";
  return period.days <= 31 && type === undefined ? "the period" : "all time";
}

function askForFormats(scope: TrendsScope): Asks<FormatRow> {
  const about = formatsAbout(scope);
  if (about === "all time") return askFor("success_rate_by_type");
  const { start, first } = scope.period;
  return FORMATS(scope, { from: dayText(about === "both periods" ? start : first) });
}

const FORMATS = trendsQuestion<FormatRow>("formats");

const MOST_HOURS = 5;

/** Hours in which far more projects failed than usual, and the rate without them. With one format the period is shorter at most. */
export const platform = block({
  id: "platform",
  asks: (scope: TrendsScope) => ({
    rows: askForTrouble(scope),
    looked: askForHoursLookedAt(
      sql`triggered_on between ${dateOf(lateOf(scope.period).first)} and ${dateOf(scope.period.last)}`,
    ),
    plain: askForPlain(scope),
  }),
  draw({ rows, looked: [looked], plain }, { period, type, now }) {
    const lookedAt = countIn(looked, "looked_at");
    const hours = countIn(rows[0], "hours");
    const late = Math.min(period.days, LATE_DAYS);
    const days = late < period.days ? `the last ${late} days` : "these days";
    const enough =
      `of the ${grouped(late * 24)} hours of ${days} had twenty projects that built. ` +
      "With fewer, trouble may go unseen.";
    const without = plainWords(
      plain.find(({ is_this_period }) => is_this_period),
      hours,
    );
    const ofAll = type === undefined ? "" : "Of all formats: these figures ignore the format.";
    const found = rows.map(({ hour, projects, projects_failing, projects_expected }) => ({
      name: html`${mark("bad", "trouble")} ${momentTag(hour, now)}`,
      figure: `${grouped(projects_failing)} of ${counted(projects, "project")} failed`,
      small: `${projects_expected < 1 ? "fewer than one" : grouped(Math.round(projects_expected))} would be usual`,
    }));
    const more = hours > rows.length && `${counted(hours - rows.length, "more hour")} in the file.`;
    return {
      title: "Trouble of the platform",
      ...(hours > 0 && { count: counted(hours, "hour") }),
      note: ofAll,
      empty: hours === 0 && [
        lookedAt === 0 ? "unknown" : "none",
        lookedAt === 0 ? "Not known." : "None found.",
        sentences(`${lookedAt === 0 ? "None" : grouped(lookedAt)} ${enough}`, without, ofAll),
      ],
      body: html`${renderRows(found, more)}
${without && html`<p class="more">${without}</p>`}`,
    };
  },
});

/** The rate without the platform's own errors, beside that with them; nothing where there was none. */
function plainWords(all: PlainRow | undefined, hours: number): Markup | "" {
  const left = countIn(all, "finished") - countIn(all, "finished_without_platform");
  if (!all?.finished_without_platform || left === 0) return "";
  const kept: Count = { succeeded: all.succeeded_without_platform, finished: all.finished_without_platform };
  return html`Without ${hours > 0 && "such hours and "}the platform's own errors, ${counted(left, "build")} fewer,
    <b>${shareWords(kept)}</b> succeeded, with them ${shareWords(all)}.`;
}

interface PlainRow {
  readonly is_this_period: boolean;
  readonly finished: number;
  readonly succeeded: number;
  readonly finished_without_platform: number;
  readonly succeeded_without_platform: number;
}

const askForPlain = (scope: TrendsScope): Asks<PlainRow> => ask`${plainOf(scope)}`;

const INCIDENTS = trendsQuestion<Incident>("incidents");

/** The hours with trouble of the period, the newest first. */
export const askForTrouble = (scope: TrendsScope): Asks<Incident> =>
  INCIDENTS(scope, { most: inline(MOST_HOURS) });
