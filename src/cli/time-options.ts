import { type Command, Option } from "commander";
import { assertTime, resolveSpan } from "../report/time-bounds.ts";

export interface TimeOptions {
  since?: string;
  until?: string;
}

/** The flags `--since` and `--until`. `readTimes` reads their values, because it knows what time it is. */
export function addTimeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--since <time>",
        "from this day (2026-11-03) or moment (2026-11-03T12:00Z) on, in UTC, or from so long ago (7d)",
      ),
    )
    .addOption(
      new Option("--until <time>", "up to this day, which counts too, or this moment, or up to so long ago"),
    );
}

/** Both as days and moments. Throws ConfigError that names the flag at fault. */
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
