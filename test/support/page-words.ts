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
export function wordsOf(page: string): string {
  const still = (html: string) =>
    MOVING.reduce(
      (text, [moving, name]) => text.replace(moving, name),
      textOf(html).replace(/\s+/g, " ").trim(),
    );
  const all = (html: string, pattern: RegExp) =>
    [...html.matchAll(pattern)].map(([, found = ""]) => still(found));
  const main = page.split("<main")[1] ?? "";
  const [before = "", ...blocks] = main.split(/<section class="block[^"]*" id=/);
  const told = blocks.flatMap((block) => {
    const [title = ""] = all(block, /<h2[^>]*>(.*?)<\/h2>/gs);
    const says = all(block, /<(?:p class="(?:note|more|took)"|div class="empty")>(.*?)<\/(?:p|div)>/gs);
    return [`## ${title}`, ...says];
  });
  return [
    ...all(page, /<title>(.*?)<\/title>/g).map((title) => `# ${title}`),
    ...all(before, /<h1[^>]*>(.*?)<\/h1>/gs),
    ...all(before, /<p class="(?:say|acts|limit)"[^>]*>(.*?)<\/p>/gs),
    ...told,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

/** The words of some pages, each below its address. */
export async function goldenOf(
  pages: { get(path: string): Promise<Response> },
  paths: readonly string[],
): Promise<string> {
  const told: string[] = [];
  for (const path of paths) {
    const reply = await pages.get(path);
    const shown = path.replace(/\d{4}-\d\d-\d\d/g, "DATE").replace(/[0-9a-f]{16}/g, "ID");
    told.push(`==== ${shown} ${reply.status}\n${wordsOf(await reply.text())}\n`);
  }
  return told.join("\n");
}
