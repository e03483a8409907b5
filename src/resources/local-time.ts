export interface LocalTime {
  /** `YYYY-MM-DDTHH:MM:SS[.ffffff]`, as a Python server prints it: six digits of fraction, or none when it is zero. */
  text: string;
  /** Microseconds since 1970-01-01T00:00:00 of the same unnamed zone. */
  microseconds: bigint;
}

/** Days before each month in a common year. */
const DAYS_BEFORE = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];

/**
 * Reads a timestamp without a zone (`YYYY-MM-DDTHH:MM:SS` or with a blank, and up to six digits of fraction);
 * null for anything else, such as February 30. Every record has such timestamps, so this reads single
 * characters, which is faster than a pattern or a Date.
 */
export function parseLocalTime(value: string): LocalTime | null {
  const { length } = value;
  if (length !== 19 && (length < 21 || length > 26)) return null;
  const separator = value[10];
  if (value[4] !== "-" || value[7] !== "-" || value[13] !== ":" || value[16] !== ":") return null;
  if (separator !== "T" && separator !== " ") return null;
  const year = digits(value, 0, 4);
  const month = digits(value, 5, 7);
  const day = digits(value, 8, 10);
  const hour = digits(value, 11, 13);
  const minute = digits(value, 14, 16);
  const second = digits(value, 17, 19);
  if (!(year >= 1 && month >= 1 && month <= 12 && hour <= 23 && minute <= 59 && second <= 59)) return null;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const dayOfYear = (DAYS_BEFORE[month - 1] ?? 0) + day - 1 + (isLeap && month > 2 ? 1 : 0);
  const daysInMonth =
    (DAYS_BEFORE[month] ?? 0) - (DAYS_BEFORE[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0);
  if (!(day >= 1 && day <= daysInMonth)) return null;

  let micros = 0;
  if (length > 19) {
    const fraction = value[19] === "." ? digits(value, 20, length) : Number.NaN;
    if (Number.isNaN(fraction)) return null;
    micros = fraction * 10 ** (26 - length);
  }
  const before = year - 1;
  const leapDays = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  // There are 719,162 days between 0001-01-01 and 1970-01-01.
  const seconds =
    (before * 365 + leapDays - 719_162 + dayOfYear) * 86_400 + hour * 3600 + minute * 60 + second;
  return {
    text: separator === "T" && length === (micros === 0 ? 19 : 26) ? value : print(value, micros),
    microseconds: BigInt(seconds) * 1_000_000n + BigInt(micros),
  };
}

function print(value: string, micros: number): string {
  const fraction = micros === 0 ? "" : `.${String(micros).padStart(6, "0")}`;
  return `${value.slice(0, 10)}T${value.slice(11, 19)}${fraction}`;
}

/** The number that decimal digits spell. NaN when one of the characters is not a digit. */
function digits(text: string, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
