import { counted, grouped } from "../../base/text.ts";
import { clockWords, momentMs, when } from "./age.ts";
import { withQuery } from "./links.ts";
import { dayNumber, dayText } from "./period.ts";
import type { Row } from "./row.ts";
import { shorten } from "./words.ts";

/** An error line that came more often in the last 24 hours than chance explains, in many projects. */
export interface RisingLine {
  readonly id: string;
  readonly line: string;
  /** In the 24 hours. */
  readonly projects: number;
  readonly failures: number;
  /** In the 28 days before. */
  readonly before: number;
  /** Since when: the first build of the 24 hours. In milliseconds. */
  readonly since: number;
  readonly firstBuild: string;
}

/** The lines that rise, from the answer of `askForRising`. */
export const readRising = (rows: readonly Row[]): RisingLine[] =>
  rows.map((row) => ({
    id: String(row.error_line_id),
    line: String(row.error_line),
    projects: Number(row.projects),
    failures: Number(row.failures),
    before: Number(row.failures_before),
    since: momentMs(row.since),
    firstBuild: String(row.first_build_id),
  }));

/** What a line says, without the name of its class, which says less: `No module named 'foo'`. */
export function sayingOf(line: string, most = 90): string {
  return shorten(line.replace(/^(?:\w+\.)*(?:\w*(?:Error|Exception)|ERROR|error|fatal): (?=.)/, ""), most);
}

/** `03:10` of today, else with its day. */
export function sinceWords({ since }: RisingLine, now: Date): string {
  return new Date(since).getUTCDate() === now.getUTCDate() ? clockWords(since) : when(since, now);
}

/** `“No module named 'foo'” began at 03:10 and hit 40 projects`; where it came before, how often. */
export function risingWords(one: RisingLine, now: Date): string {
  const saying = `“${sayingOf(one.line)}”`;
  return one.before === 0
    ? `${saying} began at ${sinceWords(one, now)} and hit ${counted(one.projects, "project")}`
    : `${saying} rises: it hit ${counted(one.projects, "project")} since ${sinceWords(one, now)}`;
}

/** How often it came before. */
export function beforeWords({ failures, before }: RisingLine): string {
  if (before === 0)
    return `The same line in ${counted(failures, "build")}, and in none of the 28 days before.`;
  return `The same line in ${counted(failures, "build")} of 24 hours, against ${grouped(before)} in the 28 days before.`;
}

/** The page of one error line, or of one kind, in the days up to `at`, its day included. */
export function linesHref(
  of: { readonly line: string } | { readonly print: string },
  at: Date,
  days = 14,
): string {
  const today = dayNumber(at.toISOString());
  return `${withQuery("/errors", { since: dayText(today - days + 1), until: dayText(today), ...of })}#lines`;
}
