import { judgeZone, type ZoneJudgement } from "../../builds/source-zone.ts";
import {
  FRESH_WITHIN_MINUTES,
  findFutureDates,
  findOffsetSpans,
  MAX_CLOCK_SECONDS,
} from "../../builds/zone-evidence.ts";
import type { Sql } from "../../db/connect.ts";
import { sqlstateOf, withStoreErrors } from "../../db/store-errors.ts";
import { EXIT } from "../../errors.ts";
import { fault, ok, type Result, unknown, warning } from "./finding.ts";

/** Long enough to hold one change of summer time in most of the year. */
const DAYS = 90;
/** Fewer builds may be dated or listed wrongly. */
const PROVING_BUILDS = 3;
const PROVING_FUTURE_SHARE = 0.01;

/** Tests `DOCMIRROR_SOURCE_TIMEZONE` by the builds that were seen fresh, without any by dates that would lie in the future. */
export async function checkSourceZone(sql: Sql, zone: string, now: Date): Promise<Result> {
  const setting = `DOCMIRROR_SOURCE_TIMEZONE=${zone}`;
  if (!(await isKnownToServer(sql, zone))) {
    return fault(
      `${setting} is no zone that the database server knows, so no build could be stored`,
      "name another zone with the same rules, or bring the server's time zone data up to date",
      EXIT.usage,
    );
  }
  const since = new Date(now.getTime() - DAYS * 86_400_000).toISOString();
  const spans = await withStoreErrors("read how fresh builds are dated", () => findOffsetSpans(sql, since));
  const judgement = judgeZone(spans, zone);
  return judgement === null ? judgeFuture(sql, zone, since) : judge(judgement, setting);
}

function judge(judgement: ZoneJudgement, setting: string): Result {
  const { configured, best, days, builds, alike, against, offsets } = judgement;
  const range =
    days.length === 1 ? `on ${days[0]}` : `on ${days.length} days from ${days[0]} to ${days.at(-1)}`;
  const seen = `${builds} ${builds === 1 ? "build" : "builds"} seen fresh ${range}`;
  if (best === null) {
    return warning(
      `no zone fits the dates of ${seen}`,
      "see whether the service's clock is right (above); the bounds at first sight of a build lean on its date",
    );
  }
  if (best.zone !== configured.zone) {
    const fitting = alike > 0 ? `${best.zone} and ${alike} other zone${alike === 1 ? "" : "s"}` : best.zone;
    const finding =
      `${setting} does not fit: the dates of ${seen} are those of clocks at ${inHours(offsets.best)}, ` +
      `the zone's are at ${inHours(offsets.configured)}. It fits on ${configured.days} of ${inDays(days.length)}, ` +
      `${fitting} on ${best.days}`;
    const choice = alike > 0 ? ", or whichever of the zones that fit the service runs in" : "";
    const mend = `set DOCMIRROR_SOURCE_TIMEZONE=${best.zone}${choice}; bounds that were recorded before stay as they are`;
    return against >= PROVING_BUILDS ? fault(finding, mend, EXIT.usage) : warning(finding, mend);
  }
  const odd = days.length - configured.days;
  const rest =
    odd > 0 ? `; on ${inDays(odd)} it did not, as when the service changed its zone or its clock` : "";
  const others = alike > 0 ? `, as ${alike} other ${alike === 1 ? "zone does" : "zones do"}` : "";
  return ok(`${setting} fits${others}: the dates of ${seen} are those of its clocks${rest}`);
}

async function judgeFuture(sql: Sql, zone: string, since: string): Promise<Result> {
  const { builds, future, medianMinutes } = await withStoreErrors("read which builds are dated ahead", () =>
    findFutureDates(sql, zone, since),
  );
  if (future >= PROVING_BUILDS && future >= builds * PROVING_FUTURE_SHARE && medianMinutes !== null) {
    return fault(
      `DOCMIRROR_SOURCE_TIMEZONE=${zone} does not fit: read in it, the dates of ${future} builds lay in the future when they were ` +
        `seen, half of them by ${medianMinutes} minutes or more; the service's zone is farther east`,
      "run `docmirror watch` for a while: then this check can name the zone that fits",
      EXIT.usage,
    );
  }
  return unknown(
    `DOCMIRROR_SOURCE_TIMEZONE=${zone} is not proven: no build was seen fresh in ${DAYS} days. That takes two looks at the list ` +
      `of builds within ${FRESH_WITHIN_MINUTES} minutes, a build that was made between them, and a service whose clock is off by ` +
      `${MAX_CLOCK_SECONDS / 60} minutes at most`,
    "run `docmirror watch` for a while",
  );
}

/** What the configuration takes for a zone is what Node knows. Postgres, which reads the dates, has a list of its own. */
async function isKnownToServer(sql: Sql, zone: string): Promise<boolean> {
  try {
    await withStoreErrors("read a time zone", () => sql`select now() at time zone ${zone}::text`);
    return true;
  } catch (error) {
    if (sqlstateOf(error) === "22023") return false;
    throw error;
  }
}

function inDays(count: number): string {
  return `${count} day${count === 1 ? "" : "s"}`;
}

function inHours(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}
