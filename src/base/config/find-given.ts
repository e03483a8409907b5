import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { Setting } from "./setting.ts";
import type { SETTINGS, SettingKey } from "./settings.ts";

/** Flags as typed, without their dashes: `--stuck-after 2h` is `{ "stuck-after": "2h" }`. */
export type FlagValues = { readonly [Flag in (typeof SETTINGS)[SettingKey]["flag"]]?: string | undefined };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where settings may be given. */
export interface Places {
  readonly flags: Environment;
  /** The environment and `.env` with their names; the first one wins. */
  readonly layers: readonly (readonly [source: string, variables: Environment])[];
  /** Where relative paths of `NAME_FILE` start. */
  readonly cwd: string;
}

/** A setting as it was given. */
export interface Given {
  readonly text: string;
  /** `flag`, `environment`, `.env` or `file <path>`. */
  readonly source: string;
  /** How a message about this value begins. */
  readonly label: string;
}

/**
 * Finds the value that was given for a setting: a flag beats the environment, which beats `.env`. An empty
 * variable counts as unset; an empty flag is a fault. Reads the file that `NAME_FILE` names. Undefined where
 * the default applies. Faults are added to `faults`.
 */
export function findGiven(setting: Setting, places: Places, faults: string[]): Given | undefined {
  const { name, flag } = setting;
  const cut = setting.keepsBlanks ? withoutNewlines : (text: string) => text.trim();
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
    if (file !== "") return readSecret(`${name}_FILE`, { path: resolve(places.cwd, file), cut }, faults);
  }
  return undefined;
}

/** The variables of `.env` in this folder; none where there is no such file. */
export function readDotEnv(cwd: string, faults: string[]): Environment {
  const path = resolve(cwd, ".env");
  try {
    return parseEnv(readFileSync(path, "utf8"));
  } catch (error) {
    if (errorCode(error) !== "ENOENT") faults.push(`.env: ${path} cannot be read (${errorCode(error)})`);
    return {};
  }
}

/** As shells read a file into a variable. Editors end each file with a newline. */
function withoutNewlines(text: string): string {
  return text.replace(/[\r\n]+$/, "");
}

function readSecret(
  name: string,
  { path, cut }: { path: string; cut: (text: string) => string },
  faults: string[],
): Given | undefined {
  try {
    const text = cut(readFileSync(path, "utf8"));
    if (text !== "") return { text, source: `file ${path}`, label: `${name} ${path}` };
    faults.push(`${name}: ${path} is empty`);
  } catch (error) {
    faults.push(`${name}: ${path} cannot be read (${errorCode(error)})`);
  }
  return undefined;
}

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
