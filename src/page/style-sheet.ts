import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const FILES = ["page.css", "charts.css"];

export interface StyleSheet {
  readonly text: string;
  /** Changes with the text, so a browser may cache it for ever. */
  readonly href: string;
}

/** Joins the files into the one style sheet of all pages. */
export function readStyleSheet(): StyleSheet {
  const text = FILES.map((file) => readFileSync(new URL(file, import.meta.url), "utf8")).join("\n");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { text, href: `/assets/page.${hash}.css` };
}
