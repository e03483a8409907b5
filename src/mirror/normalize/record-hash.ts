import { hash } from "node:crypto";
import { ExactNumber } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { namesZone } from "../walk/read-date.ts";
import { assertDepth } from "./clean-text.ts";
import type { RecordPlan } from "./record-plan.ts";

/**
 * The first 16 bytes of SHA-256, in hex, over the parsed fields of a record and how it becomes a row (`readingOf`): the
 * order of its keys and of a list of references does not count, everything else does. An embedded record counts by its
 * id, a date with a zone by that of the service too. Each value is encoded with its kind and its length, so that two
 * different records never have the same encoding. An `ignored` field does not count, whatever it holds.
 * Throws a RangeError for a record that is nested too deep to be stored (`MAX_DEPTH`).
 */
export function hashRecord(
  record: Record<string, unknown>,
  plan: Pick<RecordPlan, "reading" | "hashed" | "isDocumented" | "list" | "embedded" | "dates">,
  embeddedId: string | null,
  sourceTimezone: string,
  ignored: ReadonlySet<string> = NONE,
): string {
  const { reading, hashed, isDocumented, list, embedded, dates } = plan;
  let text = `v${reading};`;
  let known = 0;
  for (const key of hashed) {
    if (!Object.hasOwn(record, key)) {
      text += "-";
      continue;
    }
    known += 1;
    if (ignored.has(key)) text += "-";
    else if (key === embedded && embeddedId !== null) text += `p${embeddedId.length}:${embeddedId}`;
    else text += encode(key === list ? inOrder(record[key]) : record[key]);
  }
  const keys = Object.keys(record);
  if (keys.length > known)
    for (const key of keys.filter((name) => !isDocumented.has(name) && !ignored.has(name)).sort())
      text += `k${key.length}:${key}${encode(record[key])}`;
  if (dates.some((key) => namesZone(record[key]))) text += `z${sourceTimezone}`;
  return hash("sha256", text, "hex").slice(0, 32);
}

const NONE: ReadonlySet<string> = new Set();

/** The fields of a resource among texts as `build.output_url`. */
export function ignoredIn(resource: Resource, fields: readonly string[] | null = null): ReadonlySet<string> {
  const front = `${resource}.`;
  const own = (fields ?? []).filter((field) => field.startsWith(front));
  return own.length > 0 ? new Set(own.map((field) => field.slice(front.length))) : NONE;
}

function inOrder(value: unknown): unknown {
  const isSet = Array.isArray(value) && value.length > 1 && value.every((one) => typeof one === "string");
  return isSet ? value.toSorted() : value;
}

function encode(value: unknown, depth = 1): string {
  assertDepth(depth);
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (value instanceof ExactNumber) return `n${value.text};`;
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map((element) => encode(element, depth + 1)).join()}]`;
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${key.length}:${key}${encode(object[key], depth + 1)}`)
    .join()}}`;
}
