import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { maskUrl } from "./config/addresses.ts";
import { decodeText, isReadable, parseDotEnv } from "./config/dot-env.ts";
import { didYouMean, isAlmost, nearestNames } from "./config/nearest-names.ts";
import { findProxyRoute, type Proxies, readProxies } from "./config/proxies.ts";
import { defaultsOf, flagOf, type Setting, type Surroundings } from "./config/setting.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValues } from "./config/settings.ts";
import { ConfigError } from "./errors.ts";

/** The settings in force, parsed and frozen. `SETTINGS` says what each of them means. */
export interface Config extends SettingValues {
  /** From HTTP_PROXY, HTTPS_PROXY and NO_PROXY, which have no flags. @default the service is asked directly */
  readonly proxies?: Proxies | undefined;
}

/** One setting as `docmirror config` shows it: the value as text with secrets masked, null when unset. */
export interface SettingInForce {
  readonly key: SettingKey;
  readonly name: string;
  readonly flag: string;
  readonly value: string | null;
  /** A secret in it is masked. */
  readonly isMasked: boolean;
  /** `flag`, `environment`, `.env`, `file <path>` or `default`. */
  readonly source: string;
}

export interface LoadedConfig {
  readonly config: Readonly<Config>;
  /** In the order of their declaration. */
  readonly settings: readonly SettingInForce[];
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ConfigInput {
  /** @default process.env */
  env?: Environment;
  /** Where `.env` is looked for and relative paths start. @default process.cwd() */
  cwd?: string;
  /** As typed, without their dashes: `--stuck-after 2h` is `{ "stuck-after": "2h" }`. */
  flags?: Environment;
  /** The log's stream is a terminal: decides what the log format `auto` means. @default false */
  isTty?: boolean;
}

/**
 * Reads the settings: flags beat the environment beats `.env` beats defaults. Reads `.env` and the files that
 * `NAME_FILE` names, nothing else. Throws one ConfigError that names every fault at once.
 */
export function loadConfig(input: ConfigInput = {}): LoadedConfig {
  const { env = process.env, cwd = process.cwd(), flags = {}, isTty = false } = input;
  const faults: string[] = [];
  const { variables: dotEnv, faults: unread } = parseDotEnv(
    readText(".env", resolve(cwd, ".env"), faults, true) ?? "",
  );
  const layers = [["environment", env] as const, [".env", dotEnv] as const];
  faults.push(...unread, ...layers.flatMap(([source, variables]) => unknownNames(variables, source)));

  const defaults = defaultValues({ cwd, isTty });
  const values: Partial<Record<SettingKey, unknown>> = {};
  const settings = SETTING_KEYS.map((key): SettingInForce => {
    const setting: Setting = SETTINGS[key];
    const given = findGiven(setting, { flags, layers, cwd }, faults);
    const parsed = given && setting.parse(given.text, { cwd, isTty });
    if (parsed && "value" in parsed) values[key] = parsed.value;
    else if (parsed) faults.push(`${given.label}: ${quote(setting, given.text)} ${parsed.fault}`);
    const text = given?.text ?? setting.default;
    const value = text && (setting.show ?? maskUrl)(text);
    return {
      key,
      name: setting.name,
      flag: flagOf(setting),
      value,
      isMasked: value !== text,
      source: given?.source ?? "default",
    };
  });
  const unset = settings.filter(({ name, source }) => source === "default" && dotEnv[name] === undefined);
  faults.push(...almostNames(dotEnv, unset));
  const proxies = readProxies([env, dotEnv]);
  const config = { ...defaults, ...values, ...(proxies && { proxies }) } as Config;

  const route = config.baseUrl && findProxyRoute(config.baseUrl, proxies);
  if (route?.proxy === null && route.isFault)
    faults.push(
      `${route.because}: the value is not a proxy's address, such as http://user:password@proxy:3128`,
    );
  faults.push(...unpaired(settings.flatMap(({ key, value }) => (value === null ? [] : [key]))));
  if (faults.length > 0) throw configFaults(faults);
  return { config: Object.freeze(config), settings };
}

const JOBS = [["backupCron", "backupDir"] as const, ["exportCron", "exportDir", "exportLogsDir"] as const];

/** A schedule needs a folder to write to, and a folder a schedule. */
function unpaired(given: readonly SettingKey[]): string[] {
  return JOBS.flatMap(([cron, ...folders]) => {
    const [named, lacks] = given.includes(cron) ? [[cron], folders] : [folders, [cron]];
    const set = named.filter((key) => given.includes(key));
    if (set.length === 0 || lacks.some((key) => given.includes(key))) return [];
    return [`${namesOf(set, "and")}: set ${namesOf(lacks, "or")} too`];
  });
}

const namesOf = (keys: readonly SettingKey[], word: string) =>
  keys.map((key) => SETTINGS[key].name).join(` ${word} `);

/** The base URL, for a command that needs it. Throws a ConfigError that says how to give it. */
export function requireBaseUrl({ baseUrl }: Pick<Config, "baseUrl">): URL {
  if (baseUrl !== null) return baseUrl;
  throw new ConfigError("no base URL: DOCMIRROR_BASE_URL is not set, so there is no service to ask", {
    hint: "give --base-url https://docs.example.org, or see the product at work with: `docmirror demo`",
  });
}

function quote({ isHidden }: Setting, text: string): string {
  return isHidden?.(text) ? "the value" : `"${maskUrl(text)}"`;
}

function configFaults(faults: readonly string[]): ConfigError {
  const hint = "`docmirror config --help` lists every setting";
  if (faults.length === 1) return new ConfigError(`a setting cannot be used: ${faults[0]}`, { hint });
  const list = faults.map((fault) => `  - ${fault}`).join("\n");
  return new ConfigError(`${faults.length} settings cannot be used:\n${list}`, { hint });
}

/** The value of every setting where nothing is set. */
export function defaultValues(surroundings: Partial<Surroundings> = {}): SettingValues {
  return defaultsOf(SETTINGS, surroundings);
}

interface Given {
  readonly text: string;
  /** `flag`, `environment`, `.env` or `file <path>`. */
  readonly source: string;
  /** The first words of a message about this value. */
  readonly label: string;
}

/**
 * Finds the value that was given for a setting: a flag beats the environment, which beats `.env`. An empty
 * variable counts as unset; an empty flag is a fault. Reads the file that `NAME_FILE` names. Undefined where
 * the default applies. Faults are added to `faults`.
 */
function findGiven(
  setting: Setting,
  places: { flags: Environment; layers: readonly (readonly [source: string, Environment])[]; cwd: string },
  faults: string[],
): Given | undefined {
  const { name } = setting;
  const flag = flagOf(setting);
  // Editors end each file with a newline, and shells cut it when they read a file into a variable.
  const cut = (text: string) => (setting.keepsBlanks ? text.replace(/[\r\n]+$/, "") : text.trim());
  const flagText = places.flags[flag] === undefined ? undefined : cut(places.flags[flag]);
  if (flagText === "") {
    faults.push(`--${flag}: needs a value`);
    return undefined;
  }
  if (flagText !== undefined) return { text: flagText, source: "flag", label: `--${flag}` };
  for (const [source, variables] of places.layers) {
    const text = cut(variables[name] ?? "");
    const file = variables[`${name}_FILE`]?.trim() ?? "";
    if (text !== "" && file !== "")
      faults.push(`${name} and ${name}_FILE are both set (${source}); keep one`);
    if (text !== "") return { text, source, label: `${name} (${source})` };
    if (file !== "") return readSecret(`${name}_FILE`, resolve(places.cwd, file), cut, faults);
  }
  return undefined;
}

/** Adds a fault, and gives null, where a file cannot be read. */
function readText(name: string, path: string, faults: string[], mayLack = false): string | null {
  try {
    return decodeText(readFileSync(path));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    if (!mayLack || code !== "ENOENT") faults.push(`${name}: ${path} cannot be read (${code})`);
    return null;
  }
}

function readSecret(name: string, path: string, cut: (text: string) => string, faults: string[]) {
  const given = readText(name, path, faults);
  const text = cut(given ?? "");
  if (!isReadable(text)) faults.push(`${name}: ${path} is not text in UTF-8`);
  else if (text !== "") return { text, source: `file ${path}`, label: `${name} ${path}` };
  else if (given !== null) faults.push(`${name}: ${path} is empty`);
  return undefined;
}

const KNOWN = SETTING_KEYS.flatMap((key) => [SETTINGS[key].name, `${SETTINGS[key].name}_FILE`]);

function unknownNames(variables: Environment, source: string): string[] {
  // The common prefix would make every name look near.
  const bare = (name: string) => name.toUpperCase().replace(/^DOCMIRROR_/, "");
  return Object.keys(variables)
    .filter((name) => /^DOCMIRROR_/i.test(name) && !KNOWN.includes(name))
    .map((name) => {
      const [near] = nearestNames(bare(name), KNOWN.map(bare), 1);
      const meant = KNOWN.filter((one) => bare(one) === near).slice(0, 1);
      return `${name} (${source}): there is no such setting${didYouMean(meant)}`;
    });
}

/** Names of `.env` that are almost that of a setting that nothing sets. Beside that setting, even an empty one, they are another program's. */
function almostNames(dotEnv: Environment, unset: readonly SettingInForce[]): string[] {
  const known = unset.flatMap(({ name }) => [name, `${name}_FILE`]);
  return Object.keys(dotEnv)
    .filter((name) => !/^DOCMIRROR_/i.test(name) && !KNOWN.includes(name))
    .flatMap((name) => {
      const meant = known.filter((one) => isAlmost(name, one)).slice(0, 1);
      const fault = `${name} (.env): there is no such setting${didYouMean(meant)} If not, add the line ${meant}=`;
      return meant.length === 0 ? [] : [fault];
    });
}
