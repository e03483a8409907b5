import { mapInTurns } from "../../base/map-in-turns.ts";

/**
 * JSON as the recorded service writes it: keys sorted, text raw. The spaces after comma and colon are left
 * out, because no reader needs them. With `ascii`, characters outside ASCII become \u escapes.
 */
export function renderJson(value: unknown, ascii: boolean): Buffer {
  return Buffer.from(renderText(value, ascii));
}

/** The same of a page of a list. A long one is written in parts, between which other requests have their turn. */
export async function renderPage(meta: object, objects: readonly unknown[], ascii: boolean): Promise<Buffer> {
  const texts = await mapInTurns(objects, (record) => renderText(record, ascii));
  return Buffer.from(`{"meta":${renderText(meta, ascii)},"objects":[${texts.join(",")}]}`);
}

function renderText(value: unknown, ascii: boolean): string {
  const text = JSON.stringify(sortKeys(value));
  return ascii ? escapeNonAscii(text) : text;
}

/** Returns the same object when its keys are already sorted. That is the usual case and costs little. */
function sortKeys(value: unknown): unknown {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) {
    let sorted: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const item = sortKeys(value[i]);
      if (item === value[i]) continue;
      sorted ??= value.slice();
      sorted[i] = item;
    }
    return sorted ?? value;
  }
  const source = value as Record<string, unknown>;
  const keys = Object.keys(source);
  let changed = false;
  let previous = "";
  for (const key of keys) {
    if (key < previous) {
      changed = true;
      break;
    }
    previous = key;
  }
  if (changed) keys.sort();
  const sorted: Record<string, unknown> = {};
  for (const key of keys) {
    const item = sortKeys(source[key]);
    if (item !== source[key]) changed = true;
    // An assignment would set the prototype.
    if (key === "__proto__") Object.defineProperty(sorted, key, { value: item, enumerable: true });
    else sorted[key] = item;
  }
  return changed ? sorted : value;
}

function escapeNonAscii(text: string): string {
  // A string with as many bytes as characters is ASCII already. Counting is much cheaper than replacing.
  if (Buffer.byteLength(text) === text.length) return text;
  return text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
