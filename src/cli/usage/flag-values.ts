import { type Command, InvalidArgumentError } from "commander";
import { didYouMean, nearestNames } from "../../base/config/nearest-names.ts";
import { type Parse, whole } from "../../base/config/setting.ts";
import { ConfigError } from "../../base/errors.ts";
import { parseTime, resolveSpan } from "../../report/time-bounds.ts";
import { isResource, RESOURCES, type Resource } from "../../resources/resources.ts";

/** Makes commander read the value of a flag that is not a setting as that of a setting is read. */
export function parsedBy<T>(parse: Parse<T>): (text: string) => T {
  return (text) => {
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    throw new InvalidArgumentError(`It ${parsed.fault}.`);
  };
}

/** For a flag that takes a whole number. */
export const wholeFrom = (min: number, max: number) => parsedBy(whole(min, max));

/** The resource of that name, for any command. Throws ConfigError that names the nearest one. */
export function parseResource(text: string): Resource {
  if (isResource(text)) return text;
  throw unknown([text]);
}

/** Several resources, separated by commas. Throws ConfigError that names every unknown one. */
function parseResources(text: string): Resource[] {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.filter((name) => !isResource(name));
  if (wrong.length > 0) throw unknown(wrong);
  return names.filter(isResource);
}

/** A flag for some of the resources. */
export const RESOURCES_OPTION = [
  "--resource <names>",
  `only these, separated by commas: ${RESOURCES.join(", ")} [default all]`,
  parseResources,
] as const;

function unknown(names: readonly string[]): ConfigError {
  const sentences = names.map(
    (name) => `Unknown resource '${name}'${didYouMean(nearestNames(name, RESOURCES, 1))}`,
  );
  return new ConfigError(sentences.join("\n"), { hint: `there are ${RESOURCES.join(", ")}` });
}

export interface TimeOptions {
  since?: string;
  until?: string;
}

/** The flags `--since` and `--until`. `readTimes` reads their values, because it gets the current time. */
export function addTimeOptions(command: Command): Command {
  return command
    .option(
      "--since <time>",
      "from this day (2026-11-03) or time (2026-11-03T12:00Z) on, in UTC, or from a span ago (7d)",
    )
    .option("--until <time>", "up to the end of this day, up to this time, or up to a span ago");
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
  parseTime(flag, time);
  return time;
}
