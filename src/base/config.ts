import { defaultValues } from "./config/default-values.ts";
import { type Environment, type FlagValues, findGiven, readDotEnv } from "./config/find-given.ts";
import { maskUrl } from "./config/mask-url.ts";
import { type Proxies, readProxies } from "./config/proxies.ts";
import { findProxyRoute } from "./config/proxy-route.ts";
import type { Setting } from "./config/setting.ts";
import { SETTING_KEYS, SETTINGS, type SettingKey, type SettingValues } from "./config/settings.ts";
import { unknownNames } from "./config/unknown-names.ts";
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
  /** `flag`, `environment`, `.env`, `file <path>` or `default`. */
  readonly source: string;
}

export interface LoadedConfig {
  readonly config: Config;
  readonly settings: readonly SettingInForce[];
}

export interface ConfigInput {
  /** @default process.env */
  env?: Environment;
  /** Where `.env` is looked for and relative paths start. @default process.cwd() */
  cwd?: string;
  flags?: FlagValues;
  /** Whether the log's stream is a terminal: decides what the log format `auto` means. @default false */
  isTty?: boolean;
}

/**
 * Reads the settings: flags beat the environment beats `.env` beats defaults. Reads `.env` and the files that
 * `NAME_FILE` names, nothing else. Throws one ConfigError that names every fault at once.
 */
export function loadConfig({
  env = process.env,
  cwd = process.cwd(),
  flags = {},
  isTty = false,
}: ConfigInput = {}): LoadedConfig {
  const faults: string[] = [];
  const dotEnv = readDotEnv(cwd, faults);
  const layers = [["environment", env] as const, [".env", dotEnv] as const];
  for (const [source, variables] of layers) faults.push(...unknownNames(variables, source));

  const defaults = defaultValues({ cwd, isTty });
  const values: Partial<Record<SettingKey, unknown>> = {};
  const settings = SETTING_KEYS.map((key): SettingInForce => {
    const setting: Setting = SETTINGS[key];
    const given = findGiven(setting, { flags, layers, cwd }, faults);
    const parsed = given && setting.parse(given.text, { cwd, isTty });
    if (parsed && "value" in parsed) values[key] = parsed.value;
    else if (parsed) faults.push(`${given.label}: ${quote(setting, given.text)} ${parsed.fault}`);
    const text = given?.text ?? setting.default;
    const { name, flag } = setting;
    return {
      key,
      name,
      flag,
      value: text && (setting.show ?? maskUrl)(text),
      source: given?.source ?? "default",
    };
  });
  const proxies = readProxies([env, dotEnv]);
  const config = { ...defaults, ...values, ...(proxies && { proxies }) } as Config;

  const route = config.baseUrl && findProxyRoute(config.baseUrl, proxies);
  if (route?.proxy === null && route.isFault)
    faults.push(
      `${route.because}: the value is not a proxy's address, such as http://user:password@proxy:3128`,
    );
  if (faults.length > 0) throw configFaults(faults);
  return { config: Object.freeze(config), settings };
}

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
