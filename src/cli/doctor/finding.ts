import { EXIT, MirrorError } from "../../errors.ts";

export const STATUSES = ["ok", "warning", "fault", "unknown"] as const;

/** What one check came to. "unknown": it could not be made, and `finding` says why. */
export interface Finding {
  check: string;
  status: (typeof STATUSES)[number];
  /** What was found, a sentence or two. */
  finding: string;
  /** What to do about it. */
  mend?: string;
  /** What the program exits with when this is the first fault. @default 1 */
  exitCode?: number;
}

/** A check's result without its name. */
export type Result = Omit<Finding, "check">;

export const ok = (finding: string): Result => ({ status: "ok", finding });

export const warning = (finding: string, mend: string): Result => ({ status: "warning", finding, mend });

export const fault = (finding: string, mend: string, exitCode: number): Result => ({
  status: "fault",
  finding,
  mend,
  exitCode,
});

export const unknown = (finding: string, mend?: string): Result => ({
  status: "unknown",
  finding,
  ...(mend !== undefined && { mend }),
});

/** Makes one check. What keeps it from its result is its finding; a bug and the end of the program are thrown on. */
export async function findingOf(
  check: string,
  signal: AbortSignal,
  examine: () => Result | Promise<Result>,
): Promise<Finding> {
  try {
    return { check, ...(await examine()) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof MirrorError)) throw error;
    const { message, hint, exitCode } = error;
    return {
      check,
      status: "fault",
      finding: message,
      ...(hint !== undefined && { mend: hint }),
      exitCode,
    };
  }
}

/** Checks that cannot be made, all for one reason. */
export const unknowns = (checks: readonly string[], why: string): Finding[] =>
  checks.map((check) => ({ check, ...unknown(why) }));

/** The exit code of the first fault, 0 without one: a warning is only told. */
export function exitCodeOf(findings: readonly Finding[]): number {
  const first = findings.find(({ status }) => status === "fault");
  return first ? (first.exitCode ?? EXIT.bug) : EXIT.done;
}
