import { expect } from "vitest";
import { textOf } from "./page-text.ts";

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
/** What another minute would change, in this order. */
const MOVING: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`\\d{1,2}(?: ${MONTH})?(?: \\d{4})?( ?– ?\\d{1,2}) ${MONTH}(?: \\d{4})?`, "g"), "DAYS"],
  [new RegExp(`\\d{1,2} ${MONTH}(?: \\d{4})?`, "g"), "DAY"],
  [/\d{4}-\d\d(?:-\d\d)?/g, "DATE"],
  [/\d\d:\d\d(?::\d\d)?/g, "TIME"],
  [/(?:< ?)?\b\d+ (?:s|min|h|d)\b/g, "AGE"],
];

/**
 * What a page says in sentences: its title, its verdict, and of each block the heading, the note and what stands for an empty answer. Days,
 * times and ages are left out, so that it stays the same from day to day. A golden file has it, so no other test repeats a sentence.
 */
function wordsOf(page: string): string {
  const still = (html: string) =>
    MOVING.reduce(
      (text, [moving, name]) => text.replace(moving, name),
      textOf(html).replace(/\s+/g, " ").trim(),
    );
  /** A link stands behind its words. */
  const withLinks = (html: string) =>
    html.replace(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href, words) => `${words} [${href}]`);
  const all = (html: string, pattern: RegExp) =>
    [...html.matchAll(pattern)].map(([, found = ""]) => still(withLinks(found)));
  const main = page.split("<main")[1] ?? "";
  const verdict = main.split('<section class="verdict')[1]?.split("</section>")[0] ?? main;
  const told = main.split(/<section class="block[^"]*" id=/).flatMap((block, place) => {
    const title = place === 0 ? [] : [`## ${all(block, /<h2[^>]*>(.*?)<\/h2>/gs)[0] ?? ""}`];
    const says = /<(?:p class="(?:note|more|took|acts-inline)"|div class="empty")>(.*?)<\/(?:p|div)>/gs;
    return [...title, ...all(block, says)];
  });
  return [
    ...all(page.split("<body")[0] ?? "", /<title>(.*?)<\/title>/g).map((title) => `# ${title}`),
    ...all(verdict, /<h1[^>]*>(.*?)<\/h1>/gs),
    ...all(verdict, /<p class="(?:say|acts)"[^>]*>(.*?)<\/p>/gs),
    ...told,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** Compares the words of some pages with a golden file: each below its address, without the lines that one before it has too. */
export async function expectGolden(
  pages: { get(path: string): Promise<Response> },
  file: string,
  paths: readonly string[],
): Promise<void> {
  const told: string[] = [];
  const before = new Set<string>();
  for (const path of paths) {
    const reply = await pages.get(path);
    const shown = path.replace(/\d{4}-\d\d-\d\d/g, "DATE").replace(/[0-9a-f]{16}/g, "ID");
    const lines = wordsOf(await reply.text())
      .split("\n")
      .filter((line) => !before.has(line));
    for (const line of lines) before.add(line);
    told.push([`==== ${shown} ${reply.status}`, ...new Set(lines), ""].join("\n"));
  }
  await expect(told.join("\n")).toMatchFileSnapshot(file);
}
