import { resolve } from "node:path";
import { DOCUMENTED_STATES, stateWord } from "../../resources/build-states.ts";
import { isResource, RESOURCES } from "../../resources/resources.ts";
import { readHostName } from "./addresses.ts";

/**
 * A setting, defined once. The flags, `.env.example`, `docmirror config`, the help, the check for unknown names and the type of
 * the value all come from here. Code uses a setting's key in SETTINGS, which names the unit where there is one.
 */
export interface Setting<T = unknown> {
  /** The name in the environment and in `.env`. `NAME_FILE` names a file that holds the value. Its flag is `flagOf`. */
  readonly name: string;
  /** Who reads it. Code has it by `SettingsFor<Use>`, and each command with such a use has its flag. */
  readonly uses: readonly SettingUse[];
  /** The value as the help writes it. */
  readonly value: string;
  /** The value of the flag alone, without one behind it. @default the flag needs a value */
  readonly bare?: string;
  /** As written in the environment. Null when there is no default; the value is then null. */
  readonly default: string | null;
  /** Shown in the help instead of a default where `default` is null. */
  readonly without?: string;
  /** Reads a text as a value; the default too. */
  readonly parse: ((text: string, surroundings: Surroundings) => Parsed<T>) & { choices?: readonly string[] };
  /** Blanks around the value belong to it, and only newlines at its end are cut. @default they are cut too */
  readonly keepsBlanks?: boolean;
  /** True where messages leave out a text that cannot be used: it may contain a password. @default never */
  readonly isHidden?: (text: string) => boolean;
  /** The value as `docmirror config` shows it. @default with the secrets of a URL masked */
  readonly show?: (text: string) => string;
  readonly meaning: string;
}

/** The flag of a setting, without its two dashes: `sync-cron` of DOCMIRROR_SYNC_CRON. */
export function flagOf({ name }: Pick<Setting, "name">): string {
  return name
    .replace(/^DOCMIRROR_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

export type SettingUse =
  | "database"
  | "requests"
  | "sync"
  | "watch"
  | "reports"
  | "status"
  | "server"
  | "jobs"
  | "notices"
  | "log";

/** The value of each of these settings, in the type that its parser gives. */
export type ValuesOf<Settings extends Record<string, Setting>> = {
  readonly [Key in keyof Settings]: ValueOf<Settings[Key]>;
};

type ValueOf<S extends Setting> =
  S extends Setting<infer T> ? (S["default"] extends null ? T | null : T) : never;

/** The value of each of these settings where nothing is set. */
export function defaultsOf<Settings extends Record<string, Setting>>(
  settings: Settings,
  { cwd = process.cwd(), isTty = false }: Partial<Surroundings> = {},
): ValuesOf<Settings> {
  const values = Object.entries(settings).map(([key, setting]) => [key, defaultOf(setting, { cwd, isTty })]);
  return Object.fromEntries(values) as ValuesOf<Settings>;
}

function defaultOf(setting: Setting, surroundings: Surroundings): unknown {
  if (setting.default === null) return null;
  const parsed = setting.parse(setting.default, surroundings);
  if ("value" in parsed) return parsed.value;
  throw new Error(`the default of ${setting.name} ${parsed.fault}`);
}

/** A parsed value, or what is wrong with the text, such as "is not a whole number". */
export type Parsed<T> = { value: T } | { fault: string };
export type Parse<T> = (text: string) => Parsed<T>;

/** The facts that a value may depend on besides its text. */
export interface Surroundings {
  readonly cwd: string;
  readonly isTty: boolean;
}

const numeric = (form: RegExp, what: string) => (min: number, max: number) => {
  return (text: string): Parsed<number> => {
    const value = form.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? { value } : { fault: `is not a ${what} from ${min} to ${max}` };
  };
};

export const whole = numeric(/^\d{1,15}$/, "whole number");
export const decimal = numeric(/^(?:\d+\.?\d*|\.\d+)$/, "number");

function mapped<T, U>(parse: Parse<T>, map: (value: T) => U): Parse<U> {
  return (text) => {
    const parsed = parse(text);
    return "fault" in parsed ? parsed : { value: map(parsed.value) };
  };
}

/** Whole megabytes, as bytes. */
export const megabytes = (min: number, max: number) =>
  mapped(whole(min, max), (value) => value * 1024 * 1024);

/** Gigabytes, whole or not, as bytes. */
export const gigabytes = (min: number, max: number) =>
  mapped(decimal(min, max), (value) => Math.round(value * 1e9));

/** Minutes, whole or not, as milliseconds. */
export const minutes = (min: number, max: number) =>
  mapped(decimal(min, max), (value) => Math.round(value * 60_000));

/** A word for a value that the program works out itself, or anything that `parse` accepts. */
export function wordOr<const W extends string, T>(word: W, parse: Parse<T>): Parse<W | T> {
  return (text) => {
    if (text.toLowerCase() === word) return { value: word };
    const parsed = parse(text);
    return "fault" in parsed ? { fault: `${parsed.fault}, nor ${word}` } : parsed;
  };
}

/** `never`, which is null, or anything that `parse` accepts. */
export const neverOr = <T>(parse: Parse<T>): Parse<T | null> =>
  mapped(wordOr("never", parse), (value) => (value === "never" ? null : value));

/** One of these words, in any case. The words are its `choices`, for the completion. */
export function oneOf<const T extends string>(...choices: T[]): Parse<T> & { choices: readonly T[] } {
  const parse: Parse<T> = (text) => {
    const value = choices.find((choice) => choice === text.toLowerCase());
    return value === undefined ? { fault: `is not one of ${choices.join(", ")}` } : { value };
  };
  return Object.assign(parse, { choices });
}

export const onOff = mapped(oneOf("on", "off"), (word) => word === "on");

/** A time that may be zero, and has an end: a moment minus a longer one may be no date. */
export const durationUpTo =
  (mostMs: number): Parse<number> =>
  (text) => {
    const value = parseDuration(text);
    if (value === undefined) return { fault: "is not a time with its unit, such as 90s, 2h or 1h30m" };
    return value > mostMs ? { fault: `is longer than ${mostMs / 86_400_000}d` } : { value };
  };

export const duration: Parse<number> = (text) => {
  const parsed = durationUpTo(Number.POSITIVE_INFINITY)(text);
  return "value" in parsed && parsed.value === 0 ? { fault: "is not longer than zero" } : parsed;
};

export const zone: Parse<string> = (text) => {
  const fault = "is not the IANA name of a time zone, such as Europe/Berlin";
  // An offset has no rules for summer time, but newer Node versions would accept it.
  if (!/^[a-z]/i.test(text)) return { fault };
  // The default. Node loads the names of all zones to look for one, which takes a tenth of the start of a program.
  if (text === "Etc/UTC") return { value: text };
  try {
    new Intl.DateTimeFormat("en", { timeZone: text });
    return { value: text };
  } catch {
    return { fault };
  }
};

export const host: Parse<string> = (text) => {
  const bare = text.replace(/^\[(.*)\]$/, "$1");
  return /^[\p{L}\p{N}_.:%-]+$/u.test(bare)
    ? { value: bare }
    : { fault: "is not a host name or address without scheme, port and path" };
};

/** A list, separated by commas. `read` gives undefined for an entry that is wrong, and `fault` says so. */
const listOf =
  <T>(read: (entry: string) => T | undefined, fault: (wrong: string) => string): Parse<readonly T[]> =>
  (text) => {
    const values: T[] = [];
    for (const entry of text.split(",").map((one) => one.trim())) {
      const value = read(entry);
      if (value === undefined) return { fault: fault(entry) };
      values.push(value);
    }
    return { value: values };
  };

const listOfTexts = (isOne: (entry: string) => boolean, fault: (wrong: string) => string) =>
  listOf((entry) => (isOne(entry) ? entry : undefined), fault);

const listOfWords = <const T extends string>(words: readonly T[]) =>
  listOf(
    (entry) => words.find((word) => word === entry),
    (wrong) => `has ${JSON.stringify(wrong)}, which is none of ${words.join(", ")}`,
  );

/** Names of hosts without scheme and path. Ports are dropped. */
export const hostNames = listOf(
  (name) => (name.includes("*") ? undefined : readHostName(name)),
  () => "is not a list of host names, such as mirror.example.org,mirror.local",
);

const originList = listOfTexts(
  (origin) => /^https?:/.test(origin) && URL.canParse(origin) && new URL(origin).origin === origin,
  () => "is neither * nor a list of origins, such as https://docs.example.org,http://localhost:3000",
);

/** Origins of web pages, as browsers write them: scheme, host, and a port that is not the usual one. */
export const origins: Parse<"*" | readonly string[]> = (text) =>
  text.trim() === "*" ? { value: "*" } : originList(text);

/** An absolute path. It is not checked here: the code that opens the database makes the directory. */
export function path(text: string, { cwd }: Pick<Surroundings, "cwd">): Parsed<string> {
  if (/^~(?:\/|$)/.test(text))
    return { fault: "begins with ~, which only a shell replaces; write the path out" };
  if (text.includes("\0")) return { fault: "is not a path" };
  return { value: resolve(cwd, text) };
}

const LOG_FORMAT = oneOf("auto", "pretty", "json");

/** `auto` is pretty on a terminal, JSON elsewhere. */
export const logFormat = Object.assign(
  (text: string, { isTty }: Pick<Surroundings, "isTty">) =>
    mapped(LOG_FORMAT, (word) => (word === "auto" ? (isTty ? "pretty" : "json") : word))(text),
  { choices: LOG_FORMAT.choices },
);

/** Checks only the scheme. `src/store` reads the rest, because lists of hosts and sockets are not valid URLs. */
export const databaseUrl: Parse<string> = (text) => {
  return /^postgres(?:ql)?:\/\/\S*$/.test(text)
    ? { value: text }
    : { fault: "is not of the form postgres://user:password@host:port/database" };
};

/** A secret as it is. */
export const secretText: Parse<string> = (text) =>
  text.includes("\0") ? { fault: "has a character that no password can have" } : { value: text };

/** The key of Standard Webhooks: `whsec_` and its bytes in base64. */
export const webhookSecret: Parse<Buffer> = (text) => {
  const base64 = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(text)?.[1];
  const key = Buffer.from(base64 ?? "", "base64");
  return key.length >= 24 && key.length <= 64
    ? { value: key }
    : { fault: "is not whsec_ and 24 to 64 bytes in base64" };
};

/** The types of notices that a webhook may get, as receivers see them (`docs/notices.md`). `test` is sent by hand alone. */
export const NOTICE_TYPES = [
  "run.ended",
  "list.stale",
  "schema.changed",
  "project.broke",
  "project.recovered",
  "builds.quiet",
  "builds.resumed",
  "platform.trouble",
  "job.failed",
] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number] | "test";

export const noticeTypes = listOfWords(NOTICE_TYPES);

export const resources = listOfWords(RESOURCES);

/** Each as `stateWord` spells it. A documented state keeps its meaning. */
export const finalStates = listOf(
  (entry) => {
    const state = stateWord(entry);
    const isOne = state !== "" && state.length <= 100 && !DOCUMENTED_STATES.includes(state as never);
    return isOne ? state : undefined;
  },
  (wrong) =>
    `has ${JSON.stringify(stateWord(wrong))}: name states beside ${DOCUMENTED_STATES.join(", ")}, such as expired,superseded`,
);

/** Fields of resources, as `build.output_url`. */
export const fields = listOfTexts(
  (name) => /^[a-z]+\.[^\s,]{1,200}$/.test(name) && isResource(name.split(".")[0] ?? ""),
  (wrong) => `has ${JSON.stringify(wrong)}, which is no field of a resource, such as build.output_url`,
);

/** Slugs, with `*` for any letters. */
export const projectPatterns = listOfTexts(
  (pattern) => /^[^\s,]{1,200}$/.test(pattern),
  () => "is not a list of slugs, such as docs-*,pip",
);

const anyWebUrl: Parse<URL> = (text) =>
  URL.canParse(text) && /^https?:\/\//i.test(text)
    ? { value: new URL(text) }
    : { fault: "is not a URL that begins with http:// or https://" };

/** The address at which somebody is reached, as crawlers give it in their `User-Agent`. */
export const contact: Parse<string> = (text) =>
  /^(?=.{1,200}$)(?:https?:\/\/|[\w.+-]+@)[\w.~:/?#@!$&'*+,;=%-]+$/.test(text)
    ? { value: text }
    : { fault: "is neither an e-mail address nor a URL" };

/** Taken as it is, with a query if it has one: receivers give such URLs out whole. */
export const webhookUrl: Parse<URL> = (text) => {
  const parsed = anyWebUrl(text);
  if ("fault" in parsed || !text.includes("#")) return parsed;
  return { fault: "has a fragment; give the URL without what follows #" };
};

/** Keeps the path prefix without trailing slashes (the URL class keeps the one of an empty path). */
export const webUrl: Parse<URL> = (text) => {
  const parsed = anyWebUrl(text);
  if ("fault" in parsed) return parsed;
  if (/[?#]/.test(text))
    return { fault: "has a query or a fragment; give the URL without what follows ? or #" };
  parsed.value.pathname = parsed.value.pathname.replace(/\/+$/, "");
  return parsed;
};

/** Like `webUrl`, but refuses `/api/v1` at the end, because every path of the interface begins with it. */
export const baseUrl: Parse<URL> = (text) => {
  const parsed = webUrl(text);
  if ("value" in parsed && /\/api\/v\d+$/.test(parsed.value.pathname))
    return { fault: "ends in the API's own path; give the part before /api/" };
  return parsed;
};

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** Reads `90s`, `2h`, `1h30m`, `1.5d` as milliseconds. Undefined for any other text, such as a number without unit. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (!/^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/.test(trimmed)) return undefined;
  let total = 0;
  for (const [, amount, unit] of trimmed.matchAll(/(\d+(?:\.\d+)?)(ms|[smhdw])/g)) {
    total += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS];
  }
  return Number.isSafeInteger(Math.round(total)) ? Math.round(total) : undefined;
}
