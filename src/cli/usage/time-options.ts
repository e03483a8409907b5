import { type Command, Option } from "commander";
import { assertTime, resolveSpan } from "../../report/time-bounds.ts";

export interface TimeOptions {
  since?: string;
  until?: string;
}

/** The flags `--since` and `--until`. `readTimes` reads their values, because it gets the current time. */
export function addTimeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--since <time>",
        "from this day (2026-11-03) or time (2026-11-03T12:00Z) on, in UTC, or from a span ago (7d)",
      ),
    )
    .addOption(
      new Option("--until <time>", "up to the end of this day, up to this time, or up to a span ago"),
    );
}

/** Reads both as days and moments. Throws ConfigError that names the flag at fault. */
export function readTimes({ since, until }: TimeOptions, now: Date): TimeOptions {
  return {
    ...(since !== undefined && { since: readTime("--since", since, now) }),
    ...(until !== undefined && { until: readTime("--until", until, now) }),
  };
}

function readTime(flag: string, text: string, now: Date): string {
  const time = resolveSpan(text, now);
  assertTime(flag, time);
  return time;
}
