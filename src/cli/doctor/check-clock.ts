import type { ClockAhead } from "../../base/clock.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";
import { ok, type Result, warning } from "./finding.ts";

/** Network delay and rounding may look like a difference of this size. */
const TOLERATED_MS = 2000;
/** A difference of this size is shown in minutes, hours or days. */
const LONG_MS = 1_000_000;

/** Judges `whose` clock, such as "the database server's". `meaning` says what a difference affects. */
export function checkClock(whose: string, { minMs, maxMs }: ClockAhead, meaning: string): Result {
  if (minMs <= TOLERATED_MS && maxMs >= -TOLERATED_MS) {
    const wider = Math.max(Math.abs(minMs), Math.abs(maxMs));
    return ok(`${whose} clock agrees with ours to within ${inSeconds(wider)}`);
  }
  const [way, leastMs, mostMs] = minMs > 0 ? ["ahead of", minMs, maxMs] : ["behind", -maxMs, -minMs];
  const [least, most] = [inWords(leastMs), inWords(mostMs)];
  return warning(
    `${whose} clock is ${least === most ? most : `${least} to ${most}`} ${way} ours: ${meaning}`,
    "set this machine's clock by NTP; if it is right, the other clock is wrong: inform its operator",
  );
}

function inWords(ms: number): string {
  return ms < LONG_MS ? inSeconds(ms) : formatSpan(ms);
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
