import { printable } from "../../base/text.ts";
import { fieldsOf, type Resource } from "../../resources/resources.ts";
import { breakLines } from "../output/break-lines.ts";
import { cutText } from "../output/cut-text.ts";
import type { Output } from "../output/output.ts";
import { showValue } from "./show-value.ts";

const GAP = 2;
const MAX_NAME_WIDTH = 30;
/** Texts are at least this wide. */
const LEAST_TEXT_WIDTH = 40;
/** A build's output may have thousands of lines. */
const MAX_LINES = 20;
/** More fields than any real record has. */
const MAX_FIELDS = 200;

/** A record as lines of field and value: documented fields first. Null and an empty text look the same. */
export function renderRecord(
  resource: Resource,
  record: Readonly<Record<string, unknown>>,
  { colour, columns }: Pick<Output, "colour" | "columns">,
): string {
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
    const label = colour ? `\u001b[1m${name}\u001b[0m` : name;
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
