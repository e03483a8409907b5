import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import { maskUrl } from "./config/mask-url.ts";
import { type Proxies, readProxies } from "./config/proxies.ts";
import { findProxyRoute } from "./config/proxy-route.ts";
import * as values from "./config/setting-values.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey } from "./config/settings.ts";
import { unknownNames } from "./config/unknown-names.ts";
import { ConfigError } from "./errors.ts";

export const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/** The settings in force, parsed and frozen. */
export interface Config {
  /** Null means the embedded Postgres in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Absolute. Need not exist yet. */
  readonly dataDir: string;
  /**
   * Without query and fragment. The path prefix is kept without a closing slash ("/" when there is none), so join with
   * `baseUrl.pathname.replace(/\/$/, "") + "/api/v1/"`. May carry credentials: print it through `maskUrl` alone.
   */
  readonly baseUrl: URL | null;
  /** From HTTP_PROXY, HTTPS_PROXY and NO_PROXY, which are no settings of ours and have no flags. Absent where there are none. */
  readonly proxies?: Proxies;
  readonly pageSize: number;
  /** Requests a second; 0 means no limit. */
  readonly rate: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  /** Tries after the first. */
  readonly retries: number;
  readonly maxBodyMb: number;
  readonly syncCron: string;
  readonly watchCron: string;
  readonly fullEveryDays: number | "auto";
  readonly timezone: string;
  readonly sourceTimezone: string;
  readonly stuckAfterMs: number;
  /** 0 to 1. */
  readonly maxDeleteRatio: number;
  readonly httpHost: string;
  /** 0 takes a free port. */
  readonly httpPort: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly logFormat: "pretty" | "json";
}

/** One setting as `docmirror config` shows it: the value as text with secrets masked, null when unset. */
export interface SettingInForce {
  readonly key: SettingKey;
  readonly name: string;
  readonly flag: string;
  readonly value: string | null;
  /** `flag`, `environment`, `.env`, `file <path>` or `default`. */
  readonly source: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly settings: readonly SettingInForce[];
}

/** Flags as typed, by setting; `--stuck-after 2h` is `{ stuckAfter: "2h" }`. */
export type FlagValues = { readonly [K in SettingKey]?: string | undefined };

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigInput {
  /** @default process.env */
  env?: Environment;
  /** Where `.env` is looked for and relative paths start. @default process.cwd() */
  cwd?: string;
  flags?: FlagValues;
  /** Whether the log's stream is a terminal: decides what the log format `auto` means. @default false */
  isTty?: boolean;
}

interface Given {
  readonly text: string;
  readonly source: string;
  /** How a message about this value begins. */
  readonly label: string;
}

/**
 * Reads the settings: flags beat the environment beats `.env` beats defaults. An empty variable counts as unset, an
 * empty flag is a fault. Reads `.env` and the files that `NAME_FILE` names, nothing else.
 * Throws one ConfigError that names every fault at once.
 */
export function loadConfig(input: ConfigInput = {}): LoadedConfig {
  const env = input.env ?? process.env;
  const cwd = input.cwd ?? process.cwd();
  const faults: string[] = [];
  const dotEnv = readDotEnv(cwd, faults);
  const layers: [string, Environment][] = [
    ["environment", env],
    [".env", dotEnv],
  ];
  for (const [source, variables] of layers) faults.push(...unknownNames(variables, source));

  const settings: SettingInForce[] = [];
  /** Parses one setting. After a fault the value is never seen, because loadConfig throws at its end. */
  function take<T, U>(key: SettingKey, parse: values.Parse<T>, whenUnset: U): T | U {
    const setting = SETTINGS[key];
    const given = find(key);
    const text = given?.text ?? setting.default;
    settings.push({
      key,
      name: setting.name,
      flag: setting.flag,
      value: text === null ? null : maskUrl(text),
      source: given?.source ?? "default",
    });
    if (text === null) return whenUnset;
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    faults.push(`${given?.label ?? setting.name}: ${quote(key, text)} ${parsed.fault}`);
    return whenUnset;
  }

  function find(key: SettingKey): Given | undefined {
    const { name, flag } = SETTINGS[key];
    const flagText = input.flags?.[key];
    if (flagText !== undefined) {
      if (flagText.trim() !== "") return { text: flagText.trim(), source: "flag", label: `--${flag}` };
      faults.push(`--${flag}: needs a value`);
      return undefined;
    }
    for (const [source, variables] of layers) {
      const text = variables[name]?.trim() ?? "";
      const file = variables[`${name}_FILE`]?.trim() ?? "";
      if (text !== "" && file !== "")
        faults.push(`${name} and ${name}_FILE are both set (${source}); keep one`);
      if (text !== "") return { text, source, label: `${name} (${source})` };
      if (file !== "") return readSecret(`${name}_FILE`, resolve(cwd, file), faults);
    }
    return undefined;
  }

  const logFormat = take("logFormat", values.oneOf("auto", "pretty", "json"), "auto");
  const config: Config = {
    databaseUrl: take("databaseUrl", values.databaseUrl, null),
    dataDir: resolve(cwd, take("dataDir", values.path, "")),
    baseUrl: take("baseUrl", values.baseUrl, null),
    pageSize: take("pageSize", values.whole(1, 1000), 0),
    rate: take("rate", values.decimal(0, 100_000), 0),
    concurrency: take("concurrency", values.whole(1, 64), 0),
    // Node's timers overflow beyond 2^31-1 ms and then fire at once.
    timeoutMs: take("timeoutMs", values.whole(1, 2 ** 31 - 1), 0),
    retries: take("retries", values.whole(0, 100), 0),
    // V8's longest string is 512 MiB.
    maxBodyMb: take("maxBodyMb", values.whole(1, 511), 0),
    syncCron: take("syncCron", values.cron, ""),
    fullEveryDays: take("fullEveryDays", values.wordOr("auto", values.whole(1, 3650)), 0),
    watchCron: take("watchCron", values.cron, ""),
    timezone: take("timezone", values.zone, ""),
    sourceTimezone: take("sourceTimezone", values.zone, ""),
    stuckAfterMs: take("stuckAfter", values.duration, 0),
    maxDeleteRatio: take("maxDeleteRatio", values.decimal(0, 1), 0),
    httpHost: take("httpHost", values.host, ""),
    httpPort: take("httpPort", values.whole(0, 65_535), 0),
    logLevel: take("logLevel", values.oneOf(...LOG_LEVELS), "info"),
    logFormat: logFormat === "auto" ? (input.isTty ? "pretty" : "json") : logFormat,
  };
  const proxies = readProxies([env, dotEnv]);
  const route = config.baseUrl && findProxyRoute(config.baseUrl, proxies);
  if (route?.proxy === null && route.isFault)
    faults.push(`${route.because}: the value is no proxy's address, such as http://user:password@proxy:3128`);
  if (faults.length > 0) throw configFaults(faults);
  const order = (setting: SettingInForce) => SETTING_KEYS.indexOf(setting.key);
  settings.sort((a, b) => order(a) - order(b));
  return { config: Object.freeze({ ...config, ...(proxies && { proxies }) }), settings };
}

/** The base URL for a command that cannot do without it. Throws a ConfigError that says how to give it. */
export function requireBaseUrl(config: Config): URL {
  if (config.baseUrl !== null) return config.baseUrl;
  throw new ConfigError("no base URL: DOCMIRROR_BASE_URL is not set, so there is no service to ask", {
    hint: "give --base-url https://docs.example.org, or see the product at work with: docmirror demo",
  });
}

/**
 * Whether to colour a stream: `--no-color` and then `NO_COLOR` (not empty) say no, then `FORCE_COLOR` decides (0 and
 * false say no), then whether it is a terminal that is not `TERM=dumb`.
 */
export function wantsColour(
  stream: { isTty: boolean; noColorFlag?: boolean },
  env: Environment = process.env,
): boolean {
  if (stream.noColorFlag || (env.NO_COLOR ?? "") !== "") return false;
  const force = env.FORCE_COLOR ?? "";
  if (force !== "") return force !== "0" && force !== "false";
  return stream.isTty && env.TERM !== "dumb";
}

/** Whether lines can be drawn over again, as progress bars need. Not in CI, whose logs keep every frame. */
export function canRedraw(stream: { isTty: boolean }, env: Environment = process.env): boolean {
  return stream.isTty && env.TERM !== "dumb" && (env.CI ?? "") === "";
}

function readDotEnv(cwd: string, faults: string[]): Environment {
  const path = resolve(cwd, ".env");
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") faults.push(`.env: ${path} cannot be read (${errorCode(error)})`);
    return {};
  }
}

function readSecret(name: string, path: string, faults: string[]): Given | undefined {
  try {
    const text = readFileSync(path, "utf8").trim();
    if (text !== "") return { text, source: `file ${path}`, label: `${name} ${path}` };
    faults.push(`${name}: ${path} is empty`);
  } catch (error) {
    faults.push(`${name}: ${path} cannot be read (${errorCode(error)})`);
  }
  return undefined;
}

/** A URL that does not parse is not shown where it may carry a password, which could stand anywhere in it. */
function quote(key: SettingKey, text: string): string {
  if (key === "databaseUrl" || (key === "baseUrl" && text.includes("@"))) return "the value";
  return `"${maskUrl(text)}"`;
}

function configFaults(faults: readonly string[]): ConfigError {
  const hint = "docmirror config --help lists every setting";
  if (faults.length === 1) return new ConfigError(`a setting cannot be used: ${faults[0]}`, { hint });
  return new ConfigError(
    `${faults.length} settings cannot be used:\n${faults.map((f) => `  - ${f}`).join("\n")}`,
    {
      hint,
    },
  );
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
