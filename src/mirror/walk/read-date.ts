import { createZoneOffset } from "../../base/clock.ts";
import { type LocalTime, parseLocalTime } from "../../resources/local-time.ts";
import { ExactNumber } from "../../resources/parse-json.ts";

/** The service as its replies are read: where it is, and the zone of its dates that name none. */
export interface Source {
  baseUrl: URL;
  sourceTimezone: string;
}

const MAX_LENGTH = 80;
const ZONE = "(z|gmt|utc?|[ecmp][sd]t|[+-]\\d\\d(?::?\\d\\d)?)?(?: *\\([a-z ]*\\))?";
const ISO = new RegExp(
  `^(\\d{4}-\\d\\d-\\d\\d)[t ](\\d\\d:\\d\\d:\\d\\d)(?:[.,](\\d{1,30}))? *${ZONE}$`,
  "i",
);
/** As RFC 2822 has it. */
const MAIL = new RegExp(
  `^(?:[a-z]{3}, *)?(\\d{1,2}) ([a-z]{3}) (\\d{4}) (\\d\\d:\\d\\d)(:\\d\\d)? *${ZONE}$`,
  "i",
);
const MONTHS = "janfebmaraprmayjunjulaugsepoctnovdec";
/** The names of American zones in RFC 2822, in hours behind UTC without summer time. */
const HOURS_BEHIND: Readonly<Record<string, number>> = { e: 5, c: 6, m: 7, p: 8 };

const MINUTE_MICROS = 60_000_000n;
const MICROS = 1_000_000n;

/**
 * Reads a date of the service as local time of its zone. A date may name its own zone, by an offset or by `Z`, and come with
 * any number of decimals (cut to six) or in the form of RFC 2822. It may also be a time since 1970, as a number or as its digits
 * (`epochMicros`). Null for anything else.
 */
export function readDate(
  value: unknown,
  { sourceTimezone }: Pick<Source, "sourceTimezone">,
): LocalTime | null {
  if (typeof value !== "string") {
    const micros = epochMicros(value);
    return micros === null ? null : inZone(micros, sourceTimezone);
  }
  const known = parseLocalTime(value);
  if (known || value.length > MAX_LENGTH) return known;
  const trimmed = value.trim();
  const micros = epochMicros(trimmed);
  if (micros !== null) return inZone(micros, sourceTimezone);
  const [text, zone] = spellOut(trimmed);
  const time = parseLocalTime(text);
  if (!time || zone === undefined) return time;
  return inZone(time.microseconds - BigInt(minutesAhead(zone.toLowerCase())) * MINUTE_MICROS, sourceTimezone);
}

/** The local time of a moment, given in microseconds since 1970. */
function inZone(moment: bigint, zone: string): LocalTime | null {
  const ahead = offsetOf(zone)(new Date(Number(moment / 1000n)));
  return toLocalTime(moment + BigInt(ahead) * MINUTE_MICROS);
}

/** True for a date that is one moment in every zone. Its local time follows from the zone of the service, which may be set anew. */
export function namesZone(value: unknown): boolean {
  if (typeof value !== "string") return epochMicros(value) !== null;
  if (value.length > MAX_LENGTH || parseLocalTime(value)) return false;
  const trimmed = value.trim();
  return epochMicros(trimmed) !== null || spellOut(trimmed)[1] !== undefined;
}

const DIGITS = /^\d{9,16}(?:\.\d{1,9})?$/;
/** 1990-01-01 and 2100-01-01 in seconds. No number of seconds between them is one of milliseconds or microseconds too. */
const [EARLIEST, LATEST] = [631_152_000, 4_102_444_800];

/**
 * A time since 1970 in microseconds. It may count seconds, milliseconds or microseconds: of these, one at most gives a date from 1990
 * until 2100. Null for any other number, such as 0 or a day in eight digits.
 */
function epochMicros(value: unknown): bigint | null {
  const isText = typeof value === "string" ? DIGITS.test(value) : value instanceof ExactNumber;
  if (!isText && typeof value !== "number") return null;
  const time = Number(value instanceof ExactNumber ? value.text : value);
  const unit = [1, 1e3, 1e6].find((one) => time >= EARLIEST * one && time < LATEST * one);
  return unit === undefined ? null : BigInt(Math.round(time * (1e6 / unit)));
}

/** A date as `parseLocalTime` reads it, and the zone that it names. */
function spellOut(value: string): [text: string, zone: string | undefined] {
  const iso = ISO.exec(value);
  if (iso) return [`${iso[1]}T${iso[2]}${iso[3] ? `.${iso[3].slice(0, 6)}` : ""}`, iso[4]];
  const [, day = "", month = "", year, minutes, seconds = ":00", zone] = MAIL.exec(value) ?? [];
  const at = MONTHS.indexOf(month.toLowerCase());
  if (year === undefined || at % 3 !== 0) return ["", undefined];
  const number = String(at / 3 + 1).padStart(2, "0");
  return [`${year}-${number}-${day.padStart(2, "0")}T${minutes}${seconds}`, zone];
}

function minutesAhead(zone: string): number {
  const [, sign, hours, minutes = 0] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (sign) return (sign === "-" ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
  const behind = HOURS_BEHIND[zone[0] ?? ""] ?? 0;
  return behind === 0 ? 0 : 60 * ((zone[1] === "d" ? 1 : 0) - behind);
}

let latest: { zone: string; offset: (moment: Date) => number } | undefined;

/** A page has a thousand dates, and a process one zone. */
function offsetOf(zone: string): (moment: Date) => number {
  if (latest?.zone !== zone) latest = { zone, offset: createZoneOffset(zone) };
  return latest.offset;
}

function toLocalTime(microseconds: bigint): LocalTime | null {
  const micros = ((microseconds % MICROS) + MICROS) % MICROS;
  const text = new Date(Number((microseconds - micros) / 1000n)).toISOString();
  // Beyond the years that a date can have, it is longer.
  if (text.length !== 24 || text.startsWith("0000")) return null;
  const fraction = micros === 0n ? "" : `.${String(micros).padStart(6, "0")}`;
  return { text: text.slice(0, 19) + fraction, microseconds };
}
