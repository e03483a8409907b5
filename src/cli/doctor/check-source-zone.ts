import { EXIT } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import {
  FRESH_WITHIN_MINUTES,
  findFutureDates,
  findOffsetSpans,
  judgeZone,
  MAX_CLOCK_SECONDS,
  type ZoneJudgement,
} from "../../mirror/builds/source-zone.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { sqlstateOf, withStoreErrors } from "../../store/connection/store-errors.ts";
import { fault, ok, type Result, unknown, warning } from "./finding.ts";

/** Long enough to contain a change of summer time for most of the year. */
const DAYS = 90;
/** Fewer builds prove nothing: some may have wrong dates. */
const PROVING_BUILDS = 3;
const PROVING_FUTURE_SHARE = 0.01;

/** Tests the source's zone by the builds that were seen fresh; without any, by dates that would be in the future. */
export async function checkSourceZone(sql: Sql, zone: string, now: Date): Promise<Result> {
  const setting = `DOCMIRROR_SOURCE_TIMEZONE=${zone}`;
  if (!(await isKnownToServer(sql, zone))) {
    return fault(
      `${setting}: the database server does not know this zone, so no build could be stored`,
      "set another zone with the same rules, or update the server's time zone data",
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
  const range = days.length === 1 ? days[0] : `${days.length} days from ${days[0]} to ${days.at(-1)}`;
  const seen = `${counted(builds, "build")} seen fresh on ${range}`;
  if (best === null) {
    return warning(
      `no zone fits the dates of ${seen}`,
      "check the service's clock (above); the bounds of a build's first sighting depend on its date",
    );
  }
  if (best.zone !== configured.zone) {
    const fitting = alike > 0 ? `${best.zone} and ${counted(alike, "other zone")}` : best.zone;
    const finding =
      `${setting} does not fit: the dates of ${seen} match clocks at ${inHours(offsets.best)}, ` +
      `but the zone is at ${inHours(offsets.configured)}. It fits on ${configured.days} of ${counted(days.length, "day")}, ` +
      `${fitting} on ${best.days}`;
    const choice = alike > 0 ? ", or another zone that fits, if the service uses it" : "";
    const repair = `set DOCMIRROR_SOURCE_TIMEZONE=${best.zone}${choice}; bounds that were recorded before stay as they are`;
    return against >= PROVING_BUILDS ? fault(finding, repair, EXIT.usage) : warning(finding, repair);
  }
  const odd = days.length - configured.days;
  const because = "perhaps because the service changed its zone or its clock";
  const rest = odd > 0 ? `; it did not fit on ${counted(odd, "day")}, ${because}` : "";
  const others = alike > 0 ? `, as ${counted(alike, "other zone does", "other zones do")}` : "";
  return ok(`${setting} fits${others}: the dates of ${seen} match its clocks${rest}`);
}

async function judgeFuture(sql: Sql, zone: string, since: string): Promise<Result> {
  const { builds, future, medianMinutes } = await withStoreErrors("read which builds are dated ahead", () =>
    findFutureDates(sql, zone, since),
  );
  if (future >= PROVING_BUILDS && future >= builds * PROVING_FUTURE_SHARE && medianMinutes !== null) {
    return fault(
      `DOCMIRROR_SOURCE_TIMEZONE=${zone} does not fit: read in this zone, the dates of ${future} builds were in the future when the ` +
        `builds were seen, half of them by ${medianMinutes} minutes or more; the service's zone is farther east`,
      "run `docmirror watch` for a while: then this check can name the zone that fits",
      EXIT.usage,
    );
  }
  return unknown(
    `DOCMIRROR_SOURCE_TIMEZONE=${zone} is not proven: no build was seen fresh in ${DAYS} days. A build is fresh when it ` +
      `was created between two reads of the list at most ${FRESH_WITHIN_MINUTES} minutes apart, and the service's clock is off by ` +
      `${MAX_CLOCK_SECONDS / 60} minutes at most`,
    "run `docmirror watch` for a while",
  );
}

/** The settings accept the zones that Node knows. Postgres reads the dates, and has its own list. */
async function isKnownToServer(sql: Sql, zone: string): Promise<boolean> {
  try {
    await withStoreErrors("read a time zone", () => sql`select now() at time zone ${zone}::text`);
    return true;
  } catch (error) {
    if (sqlstateOf(error) === "22023") return false;
    throw error;
  }
}

function inHours(minutes: number): string {
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
  return `UTC${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}:${String(rest).padStart(2, "0")}`;
}
