import { jsonText, printable, printableJson } from "../../base/text.ts";
import type { ResourceSchema, RootListing } from "../../client/index.ts";
import type { PageParts } from "../../client/list-pages.ts";
import { parsePageRequest } from "../../resources/page-request.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { DECLARATIONS, fieldsOf, type Resource } from "../../resources/resources.ts";
import { breakLines, type Look, styled } from "../output/output.ts";
import { cutText, renderTable } from "../output/table.ts";

/** A reply of the service as it came, with control characters escaped. */
export function renderJson(value: unknown): string {
  return `${printableJson(toJson(value))}\n`;
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

const PROPERTIES = ["type", "nullable", "unique", "help_text"] as const;
const MAX_FILTERS_LENGTH = 500;

/** A schema as a table, a row for each field, and the filters below where it names them. */
export function renderSchema({ fields = {}, extra: { filtering } }: ResourceSchema, look: Look): string {
  const rows = Object.entries(fields).map(([name, field]) => {
    return [name, ...PROPERTIES.map((property) => showValue(field?.[property]))];
  });
  const table = renderTable({ head: ["field", ...PROPERTIES], rows, mayDrop: true }, look);
  if (typeof filtering !== "object" || filtering === null) return table;
  const filters = cutText(printable(Object.keys(filtering).join(", ")), MAX_FILTERS_LENGTH);
  return `${table}\nfilters: ${filters}\n`;
}

/** The root listing as a table, a row for each resource. */
export function renderRoot({ extra, ...documented }: RootListing, look: Look): string {
  const rows = Object.entries({ ...documented, ...extra }).map(([name, paths]) => {
    return [name, paths?.list_endpoint, paths?.schema];
  });
  return renderTable({ head: ["resource", "list_endpoint", "schema"], rows }, look);
}

/** A cell of a build's texts shows their beginning. */
const MAX_CELL_LENGTH = 60;

/** A page of a list as a table, a row for each record, with the place of the page below. */
export function renderList(resource: Resource, { meta, objects }: PageParts<unknown>, look: Look): string {
  const offset = meta.offset ?? 0;
  const total = meta.total_count;
  const ofAll = total === null ? "" : ` of ${total}`;
  if (objects.length === 0) {
    return offset > 0
      ? `No ${resource}s from offset ${offset} on${total === null ? "" : `; there are ${total}`}\n`
      : `No ${resource}s\n`;
  }
  const head = DECLARATIONS[resource].summary;
  const rows = objects.map((record) => head.map((field) => showValue(fieldOf(record, field)).slice(0, 1000)));
  const right = objects.every((record) => /^\d{1,20}$/.test(String(fieldOf(record, "id")))) ? ["id"] : [];
  const table = renderTable({ head, rows, right, maxCellLength: MAX_CELL_LENGTH, mayDrop: true }, look);
  const place =
    offset === 0
      ? `${objects.length}${ofAll} ${resource}s`
      : objects.length === 1
        ? `${resource} ${offset + 1}${ofAll}`
        : `${resource}s ${offset + 1} to ${offset + objects.length}${ofAll}`;
  return `${table}\n${place}${moreOf(meta.next)}\n`;
}

function moreOf(next: string | null): string {
  if (next === null) return "";
  const request = parsePageRequest(next);
  return request === null ? "; there are more" : `; the next page: --offset ${request.offset}`;
}

function fieldOf(record: unknown, field: string): unknown {
  return isJsonObject(record) && Object.hasOwn(record, field) ? record[field] : undefined;
}

const GAP = 2;
const MAX_NAME_WIDTH = 30;
const LEAST_TEXT_WIDTH = 40;
/** A build's output may have thousands of lines. */
const MAX_LINES = 20;
/** More fields than any real record has. */
const MAX_FIELDS = 200;

/** A record as lines of field and value: documented fields first. Null and an empty text look the same. */
export function renderRecord(
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
  look: Look,
): string {
  const { columns } = look;
  const documented = fieldsOf(resource).map(([name]) => name);
  const others = Object.keys(record).filter((field) => !documented.includes(field));
  const names = [...documented.filter((field) => Object.hasOwn(record, field)), ...others];
  const shown = names.slice(0, MAX_FIELDS).map((name) => {
    const text = showValue(record[name]).replaceAll("\r\n", "\n");
    return { name: cutText(printable(name.slice(0, 1000)), MAX_NAME_WIDTH), text };
  });
  const indent = Math.max(...shown.map(({ name }) => name.length)) + GAP;
  const width =
    columns === undefined ? Number.POSITIVE_INFINITY : Math.max(LEAST_TEXT_WIDTH, columns - indent);
  const lines = shown.flatMap(({ name, text }) => {
    const label = styled("bold", name, look);
    const padding = " ".repeat(indent - name.length);
    return shorten(breakLines(text, width)).map((line, index) =>
      (index === 0 ? `${label}${padding}${line}` : `${" ".repeat(indent)}${line}`).trimEnd(),
    );
  });
  const left = names.length - shown.length;
  if (left > 0) lines.push(`… and ${left} more fields: --json shows all`);
  return `${lines.join("\n")}\n`;
}

function shorten(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  return [...lines.slice(0, MAX_LINES), "… --json shows the rest"];
}

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
