import type { Parsed, Surroundings } from "./setting-values.ts";

/**
 * A setting, defined once. The flags, `.env.example`, `docmirror config`, the help, the check for unknown
 * names and the type of the value all come from here. Code uses a setting's key in SETTINGS, which names the
 * unit where there is one.
 */
export interface Setting<T = unknown> {
  /** The name in the environment and in `.env`. `NAME_FILE` names a file that holds the value. */
  readonly name: string;
  /** The flag without its two dashes. */
  readonly flag: string;
  /** How the help writes the value. */
  readonly value: string;
  /** The value of the flag alone, without one behind it. @default the flag needs a value */
  readonly bare?: string;
  /** As written in the environment. Null when there is no default; the value is then null. */
  readonly default: string | null;
  /** Shown in the help instead of a default where `default` is null. */
  readonly without?: string;
  /** Reads a text as a value; the default too. */
  readonly parse: (text: string, surroundings: Surroundings) => Parsed<T>;
  /** Blanks around the value belong to it, and only newlines at its end are cut. @default they are cut too */
  readonly keepsBlanks?: boolean;
  /** Whether messages leave out a text that cannot be used: it may contain a password. @default never */
  readonly isHidden?: (text: string) => boolean;
  /** The value as `docmirror config` shows it. @default with the secrets of a URL masked */
  readonly show?: (text: string) => string;
  readonly meaning: string;
}

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
