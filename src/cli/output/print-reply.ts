import { jsonText, printableJson } from "../../base/text.ts";
import type { Output } from "./output.ts";

/** Prints a reply of the service as it came, with control characters escaped. */
export function printReply(out: Output, value: unknown): Promise<void> {
  return out.write(`${printableJson(toJson(value))}\n`);
}

/** Indented JSON; one line where it is nested so deep that the text or the stack would be too long. */
function toJson(value: unknown): string {
  try {
    // JSON.stringify would write null for a number that JavaScript cannot hold.
    const asText = (_key: string, one: unknown) =>
      typeof one === "number" && !Number.isFinite(one) ? String(one) : one;
    return JSON.stringify(value, asText, 2);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return jsonText(value, Number.POSITIVE_INFINITY);
  }
}
