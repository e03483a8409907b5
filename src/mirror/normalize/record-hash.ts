import { hash } from "node:crypto";
import { assertDepth } from "./clean-text.ts";
import { NORMALIZER_VERSION } from "./normalizer-version.ts";

/**
 * The first 16 bytes of SHA-256, in hex, over the parsed fields of a record and the version of the
 * normalizer: the order of its keys does not count, everything else does. Each value is encoded with its kind
 * and its length, so that two different records never have the same encoding. Throws a RangeError for a
 * record that is nested too deep to be stored (`MAX_DEPTH`).
 */
export function hashRecord(
  record: Record<string, unknown>,
  knownKeys: readonly string[],
  embeddedId: string | null,
): string {
  let text = `v${NORMALIZER_VERSION};`;
  let known = 0;
  for (const key of knownKeys) {
    if (!Object.hasOwn(record, key)) {
      text += "-";
      continue;
    }
    known += 1;
    text +=
      key === "project" && embeddedId !== null ? `p${embeddedId.length}:${embeddedId}` : encode(record[key]);
  }
  const keys = Object.keys(record);
  if (keys.length > known) {
    const isKnown = new Set(knownKeys);
    for (const key of keys.filter((name) => !isKnown.has(name)).sort()) {
      text += `k${key.length}:${key}${encode(record[key])}`;
    }
  }
  return hash("sha256", text, "hex").slice(0, 32);
}

function encode(value: unknown, depth = 1): string {
  assertDepth(depth);
  if (typeof value === "string") return `s${value.length}:${value}`;
  if (typeof value === "number") return `n${value};`;
  if (value === null || typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map((element) => encode(element, depth + 1)).join()}]`;
  const object = value as Record<string, unknown>;
  return `{${Object.keys(object)
    .sort()
    .map((key) => `${key.length}:${key}${encode(object[key], depth + 1)}`)
    .join()}}`;
}
