import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** In the order of the sheet: what narrows the window, and paper, come last. */
const SUBJECTS = `base shell marks verdict blocks filters fails strips tables rows charts trends arrivals
  builds errors empty glance fingers progress narrow media`.split(/\s+/);

interface StyleSheet {
  readonly text: string;
  /** Changes with the text, so a browser may cache it for ever. */
  readonly href: string;
}

/** Joins the files of `styles`, one for each subject, into the one style sheet of all pages. */
export function readStyleSheet(): StyleSheet {
  const text = SUBJECTS.map((subject) =>
    readFileSync(new URL(`styles/${subject}.css`, import.meta.url), "utf8"),
  ).join("\n");
  const hash = createHash("sha256").update(text).digest("hex").slice(0, 12);
  return { text, href: `/assets/page.${hash}.css` };
}
