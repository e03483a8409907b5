import type { ClockAhead } from "../../base/clock.ts";
import { EXIT, MirrorError } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import { formatSpan } from "../../mirror/builds/format-span.ts";

/** The result of one check. "unknown" means that it could not be made; `finding` says why. */
export interface Finding {
  check: string;
  status: "ok" | "warning" | "fault" | "unknown";
  /** The finding, in a sentence or two. */
  finding: string;
  /** The way to repair it. */
  repair?: string | null | undefined;
  /** The exit code when this is the first fault. @default 1 */
  exitCode?: number;
}

/** A check's result without its name. */
export type Result = Omit<Finding, "check">;

export const ok = (finding: string): Result => ({ status: "ok", finding });

export const warning = (finding: string, repair: string): Result => ({ status: "warning", finding, repair });

export const fault = (finding: string, repair: string, exitCode: number): Result => ({
  status: "fault",
  finding,
  repair,
  exitCode,
});

export const unknown = (finding: string, repair?: string): Result => ({ status: "unknown", finding, repair });

/** An error that prevents a check is its result. */
export const faultOf = ({ message, hint, exitCode }: MirrorError): Result => ({
  status: "fault",
  finding: message,
  repair: hint,
  exitCode,
});

/** Makes one check. An error that prevents it becomes its finding; a bug and a stop are thrown. */
export async function findingOf(check: string, signal: AbortSignal, examine: () => Result | Promise<Result>) {
  try {
    return { check, ...(await examine()) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof MirrorError)) throw error;
    return { check, ...faultOf(error) };
  }
}

/** The first names of a list: they show what is wrong. */
export function listed(names: readonly string[], most: number): string {
  const shown = names.slice(0, most).join(", ");
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** Checks that cannot be made, all for the same reason. */
export const unknowns = (checks: readonly string[], why: string): Finding[] =>
  checks.map((check) => ({ check, ...unknown(why) }));

/** The exit code of the first fault, 0 without one: warnings do not count. */
export function exitCodeOfFindings(findings: readonly Finding[]): number {
  const first = findings.find(({ status }) => status === "fault");
  return first ? (first.exitCode ?? EXIT.bug) : EXIT.done;
}

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

/** Certificates are renewed some weeks before their end as a rule. */
const RENEWED_BEFORE_MS = 14 * 86_400_000;

/** Warns of a certificate that ends soon. Null where it does not, or there is none. `whose`: such as "the service's". */
export function checkCertificate(whose: string, endsAt: Date | null, now: Date): Result | null {
  if (endsAt === null || endsAt.getTime() - now.getTime() > RENEWED_BEFORE_MS) return null;
  const leftMs = endsAt.getTime() - now.getTime();
  if (leftMs <= 0) {
    return warning(
      `${whose} certificate ended at ${endsAt.toISOString()}`,
      "its operator must renew it, or this machine's clock is ahead: set it by NTP",
    );
  }
  const days = counted(Math.floor(leftMs / 86_400_000), "day");
  return warning(
    `${whose} certificate ends in ${days}, at ${endsAt.toISOString()}`,
    "its operator must renew it before: from then on every connection is refused",
  );
}

function inWords(ms: number): string {
  return ms < LONG_MS ? inSeconds(ms) : formatSpan(ms);
}

function inSeconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
