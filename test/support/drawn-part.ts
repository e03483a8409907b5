import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

const DOCS = new URL("../../docs/", import.meta.url);

/** Expects a page to show a text between its marks of this name. With UPDATE_DOCS=1 in the environment it writes it there. */
export function expectDrawn(page: string, mark: string, drawn: string): void {
  const path = new URL(page, DOCS);
  const text = readFileSync(path, "utf8");
  const place = new RegExp(`(?<=<!-- ${mark}:begin -->\n\n)[^]*?(?=\n<!-- ${mark}:end -->)`);
  expect(text).toMatch(place);
  const wanted = text.replace(place, () => drawn);
  if (process.env.UPDATE_DOCS) writeFileSync(path, wanted);
  expect(readFileSync(path, "utf8")).toBe(wanted);
}
