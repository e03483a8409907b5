import { jsonText } from "../../base/json-text.ts";
import { printableJson } from "../../base/printable.ts";
import type { Output } from "./output.ts";

/** Prints a reply of the service as it came, with control characters escaped. */
export function printReply(out: Output, value: unknown): Promise<void> {
  return out.write(`${printableJson(toJson(value))}\n`);
}

/**
 * Indented JSON; one line where it is nested so deep that the indented text or the stack would be too long.
 */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, foreignNumberAsText, 2);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return jsonText(value, Number.POSITIVE_INFINITY);
  }
}

/** JSON.stringify would write null for it. */
function foreignNumberAsText(_key: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
