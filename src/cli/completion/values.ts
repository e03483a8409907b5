import { DICTIONARY } from "../../report/dictionary.ts";
import { RESOURCES } from "../../resources/resources.ts";
import { SEARCHES } from "../search/plan-search.ts";

/** What may be typed at a place: words, several of them behind commas, paths, or what no list can hold. */
export type Values =
  | { kind: "words" | "list"; words: readonly string[] }
  | { kind: "files" | "folders" | "other" };

/** Words that a flag or a place takes, where its own definition does not list them. A `*` is any command. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  "report name": Object.keys(DICTIONARY),
  "get resource": RESOURCES,
  "explain resource": ["build"],
  "search what": SEARCHES,
  "quarantine --resource": RESOURCES,
  "* --log-level": ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
  "* --log-format": ["auto", "pretty", "json"],
};
/** Words that stand in a row, with commas between them. */
const LISTS: Readonly<Record<string, readonly string[]>> = { "sync --resource": RESOURCES };

/**
 * What may be typed where `key` says, as in `report --format`. `placeholder` is the name of the value in the
 * help; `choices` are those that commander checks.
 */
export function valuesOf(key: string, placeholder: string, choices?: readonly string[]): Values {
  const list = LISTS[key];
  if (list !== undefined) return { kind: "list", words: list };
  const words = choices ?? WORDS[key] ?? WORDS[key.replace(/^\S+/, "*")];
  if (words !== undefined) return { kind: "words", words };
  if (placeholder.includes("|")) return { kind: "words", words: placeholder.split("|") };
  if (placeholder === "folder" || key.endsWith(" --data-dir")) return { kind: "folders" };
  return { kind: placeholder === "path" || placeholder === "file" ? "files" : "other" };
}
