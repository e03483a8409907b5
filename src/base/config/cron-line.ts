import { validateDetailed } from "node-cron";
import type { Parse } from "./setting.ts";

interface CronField {
  /** As node-cron calls it. */
  readonly key: string;
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly word?: string;
}

const FIELDS: readonly CronField[] = [
  { key: "second", name: "second", min: 0, max: 59 },
  { key: "minute", name: "minute", min: 0, max: 59 },
  { key: "hour", name: "hour", min: 0, max: 23 },
  { key: "dayOfMonth", name: "day", min: 1, max: 31 },
  { key: "month", name: "month", min: 1, max: 12, word: "jan" },
  { key: "dayOfWeek", name: "weekday", min: 0, max: 7, word: "mon" },
];
const NICKNAMES = "@hourly, @daily, @weekly, @monthly or @yearly";
const EXAMPLE = 'it needs five fields, minute to weekday, such as "17 2 * * *"';

/** Five fields, or six with seconds first, or a nickname such as @daily. */
export const cron: Parse<string> = (text) => {
  const faults = findCronFaults(text);
  return faults.length > 0
    ? { fault: `is not a cron line: ${faults.join(", ")}` }
    : { value: normalizeCron(text) };
};

/**
 * Says why a text is not a cron line: a sentence for each wrong field, with its text and its range. Empty for a valid line. A
 * line has five fields, or six with seconds first. Numbers and steps are checked here, because node-cron accepts a step that is
 * longer than its field, and expands a range before it checks its ends.
 */
export function findCronFaults(line: string): string[] {
  const text = line.trim();
  if (text.startsWith("@"))
    return validateDetailed(text).valid ? [] : [`there is no ${text}; write ${NICKNAMES}`];
  const odd = /[^a-z0-9\-*/,#?\s]/iu.exec(text)?.[0];
  if (odd !== undefined) return [`${odd} is not allowed in it; ${EXAMPLE}`];
  const texts = text.split(/\s+/);
  if (texts.length !== 5 && texts.length !== 6) {
    const count = texts.length === 1 ? "one field" : `${texts.length} fields`;
    return [`it has ${count}; ${EXAMPLE}`];
  }
  const fields = FIELDS.slice(FIELDS.length - texts.length);
  const faults = fields.flatMap((field, index) => {
    const found = (texts[index] ?? "").split(",").map((token) => findTokenFault(field, token));
    return found.find((fault) => fault !== undefined) ?? [];
  });
  if (faults.length > 0) return faults;
  const unclear = findUnclearDays(texts);
  if (unclear !== undefined) return [unclear];
  const judged = validateDetailed(texts.join(" "));
  return judged.valid
    ? []
    : judged.errors.map(({ field, value = "", message }) => describeFault(field, value, message));
}

/** The line as node-cron reads it: with one blank between its fields. */
export function normalizeCron(line: string): string {
  return line.trim().split(/\s+/).join(" ");
}

/**
 * The lines of node-cron that a line means: it is due when one of them is. Where day and weekday are both given, cron runs on
 * either (POSIX, crontab(5), Kubernetes), and node-cron on days that fit both.
 */
export function splitDays(line: string): string[] {
  const texts = line.trim().split(/\s+/);
  const [day = "*", month = "*", weekday = "*"] = texts.slice(-3);
  if (texts.length < 5 || isEveryDay(day) || isEveryDay(weekday)) return [line];
  const times = texts.slice(0, -3).join(" ");
  return [`${times} ${day} ${month} *`, `${times} * ${month} ${weekday}`];
}

function isEveryDay(field: string): boolean {
  return /^(\*|\?|\*\/0*1)$/.test(field);
}

/** Crons differ on a field such as "*\/2": Debian's waits for a day that fits both fields, Kubernetes runs on either. */
function findUnclearDays(texts: readonly string[]): string | undefined {
  const days = [texts.at(-3) ?? "", texts.at(-1) ?? ""];
  const unclear = days.find((field) => /[*?]/.test(field));
  if (unclear === undefined || days.some(isEveryDay)) return undefined;
  const range = unclear === days[0] ? "1-31" : "0-6";
  return `crons read ${unclear} beside another day field in two ways: write ${range} for its star, which is due on either, or give one of the two fields`;
}

function findTokenFault({ name, min, max }: CronField, token: string): string | undefined {
  if (token === "") return `the list of ${name}s has an empty entry`;
  const [base = "", step] = token.split("/");
  const [, first, last] = /^(-?\d+)(?:-(\d+))?$/.exec(base) ?? [];
  const wrong = [first, last].find((end) => end !== undefined && !(Number(end) >= min && Number(end) <= max));
  if (wrong !== undefined) return `${name} ${wrong} is not within ${min} to ${max}`;
  if (step === undefined) return undefined;
  const mostSteps = max - min;
  if (!(/^\d+$/.test(step) && Number(step) >= 1 && Number(step) <= mostSteps)) {
    return `step ${step || "''"} of the ${name} is not within 1 to ${mostSteps}`;
  }
  const isAlone = first !== undefined && last === undefined;
  return isAlone ? `${name} ${token} has a step without a range: write ${first}-${max}/${step}` : undefined;
}

/** A fault that node-cron found. It knows names, `L`, `W` and `#`, and the days that no month has. */
function describeFault(key: string, value: string, message: string): string {
  if (message.includes("impossible")) return `none of its months has a day ${value}`;
  const field = FIELDS.find((one) => one.key === key);
  if (field === undefined) return message;
  const { name, min, max, word } = field;
  return `${name} ${value} is not within ${min} to ${max}${word ? `, nor a name such as ${word}` : ""}`;
}
