import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseEnv } from "node:util";
import type { SETTINGS, Setting, SettingKey } from "./settings.ts";

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
export function findGiven({ name, flag }: Setting, places: Places, faults: string[]): Given | undefined {
  const flagText = places.flags[flag]?.trim();
  if (flagText === "") {
    faults.push(`--${flag}: needs a value`);
    return undefined;
  }
  if (flagText !== undefined) return { text: flagText, source: "flag", label: `--${flag}` };
  for (const [source, variables] of places.layers) {
    const text = variables[name]?.trim() ?? "";
    const file = variables[`${name}_FILE`]?.trim() ?? "";
    if (text !== "" && file !== "")
      faults.push(`${name} and ${name}_FILE are both set (${source}); keep one`);
    if (text !== "") return { text, source, label: `${name} (${source})` };
    if (file !== "") return readSecret(`${name}_FILE`, resolve(places.cwd, file), faults);
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

function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
