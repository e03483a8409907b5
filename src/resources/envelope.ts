import { isJsonObject } from "./json-object.ts";

/**
 * One list reply (`docs/interface.md`, "Lists"). `next` and `objects` are required. Without them a reply is
 * not a page, and reading it as the last page would end a walk early. The other fields may hold anything; the
 * code that uses them checks them.
 */
export interface Envelope {
  readonly meta: {
    readonly next: string | null;
    readonly limit?: unknown;
    readonly offset?: unknown;
    readonly total_count?: unknown;
    readonly [unknownField: string]: unknown;
  };
  readonly objects: unknown[];
}

/** Reads a list reply. For anything else `fault` says which part is wrong, and what came in its place. */
export function readEnvelope(value: unknown): Envelope | { fault: string } {
  if (!isJsonObject(value)) return fault("the reply", "object", value);
  const { meta, objects } = value;
  if (!isJsonObject(meta)) return fault("meta", "object", meta);
  const { next } = meta;
  if (typeof next !== "string" && next !== null) return fault("meta.next", "string", next);
  if (!Array.isArray(objects)) return fault("objects", "array", objects);
  return { meta: { ...meta, next: next === null ? null : storable(next) }, objects };
}

/** Postgres stores the page and cannot hold U+0000 and lone surrogates. */
function storable(link: string): string {
  return link.replaceAll("\u0000", "\uFFFD").toWellFormed();
}

function fault(where: string, expected: string, value: unknown): { fault: string } {
  return { fault: `${where}: Invalid input: expected ${expected}, received ${kindOf(value)}` };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return typeof value;
}
