import { jsonText } from "../../base/text.ts";

/** A field of a reply may be as long as the reply. */
const MAX_LENGTH = 20_000;

/**
 * A value of a reply as text for people, cut where it is very long. Null and absent are empty. An embedded
 * record shows as its slug, or else as its path. The text is not yet safe for a terminal.
 */
export function showValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return value.slice(0, MAX_LENGTH).toWellFormed();
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value) && value.every((one) => typeof one === "string"))
    return value.join(", ").slice(0, MAX_LENGTH).toWellFormed();
  const { slug, resource_uri } = value as { slug?: unknown; resource_uri?: unknown };
  const name = [slug, resource_uri].find((text) => typeof text === "string" && text !== "");
  return typeof name === "string" ? showValue(name) : jsonText(value, MAX_LENGTH).toWellFormed();
}
