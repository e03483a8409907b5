import { expect } from "vitest";
import { type MirrorPages, openMirrorPages } from "./mirror-pages.ts";
import { expectHarmless, textOf } from "./page-text.ts";

const MONTH = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)";
/** What another minute or another day of the month would change, in this order. */
const MOVING: readonly (readonly [RegExp, string])[] = [
  [new RegExp(`\\d{1,2}(?: ${MONTH})?(?: \\d{4})?( ?– ?\\d{1,2}) ${MONTH}(?: \\d{4})?`, "g"), "DAYS"],
  [new RegExp(`\\d{1,2} ${MONTH}(?: \\d{4})?`, "g"), "DAY"],
  [/\d{4}-\d\d(?:-\d\d)?/g, "DATE"],
  [/\d\d:\d\d(?::\d\d(?:\.\d+)?)?/g, "TIME"],
  [/(?<=about |come for )\d+ (?:s|min|h)\b|\d\.\d s(?= earlier)/g, "AGE"],
  // A break may be one of yesterday or of today.
  [/DAY (?=TIME)/g, ""],
  [/(Broke in DATE).*/g, "$1"],
  [/some [\d,]+ a second/g, "some RATE a second"],
  [/from \d+ % to \d+ %, lowest \d+ %/g, "from RATE to RATE"],
  [/(90 days of the main docs of [^:]*): [^)]*/g, "$1"],
  [/[0-9a-f]{16}/g, "ID"],
  // How this program is called depends on where it lies.
  [/npx docmirror/g, "docmirror"],
];
/** What counts to the minute of the page. A span between two moments of the data is none, and stays. */
const AGES = /(?<=<time class="age"[^>]*>[^<]*)(?:&lt;\s)?[\d,]+\s(?:min|h|d)/g;
const LONG = /(\S{40})\S{100,}/g;

/** What opens a line of its own. */
const BLOCKS = /<\/?(?:section|h\d|p|li|tr|ul|ol|dl|dt|div|nav|details|summary|table|pre)\b[^>]*>/g;

/**
 * What a page says: its title, how its verdict looks, and all that a reader sees below, a line each, with the address behind each link and the
 * words of a picture in its place. Days, times and ages are left out, so that it stays the same from day to day. A golden file has it, so no
 * other test repeats a sentence.
 */
function wordsOf(page: string): string[] {
  const [, title = ""] = /<title>(.*?)<\/title>/.exec(page) ?? [];
  const [, look = "plain"] = /<section class="verdict (\w+)/.exec(page) ?? [];
  const main = page.split(/<main[^>]*>/)[1]?.split("</main>")[0] ?? "";
  const shown = main
    .replace(AGES, "AGE")
    .replace(/<form.*?<\/form>|<div class="tools">.*?<\/div><\/div>|<summary>Its row in.*?<\/details>/gs, "")
    .replace(/<svg[^>]*aria-label="([^"]*)".*?<\/svg>/gs, " ($1) ")
    .replace(/<svg.*?<\/svg>/gs, "")
    .replace(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href, words) => ` ${words} [${href}] `)
    .replace(/<h2[^>]*>/g, "\n## ")
    .replace(/<\/t[dh]>/g, " | ")
    .replace(/<(?:small|time|span|bdi)\b/g, " $&")
    .replace(BLOCKS, "\n");
  const lines = [`# ${title} (${look})`, ...shown.split("\n")];
  return lines
    .map((line) => textOf(line).replace(/\s+/g, " ").replace(LONG, "$1…").trim())
    .map((line) => MOVING.reduce((text, [moving, name]) => text.replace(moving, name), line))
    .filter((line) => line !== "");
}

type Pages = Pick<MirrorPages, "get">;

/** A mirror: `pages` are those of one that is open; else one is opened, which `fill` fills. */
export interface GoldenWorld {
  readonly of: string;
  readonly pages?: Pages;
  readonly fill?: (databaseUrl: string) => Promise<void>;
  readonly paths: readonly string[];
}

/** What a page says of its own: its verdict, and of its blocks the lines that no page before it has. Both are added to `before`. */
function ownWordsOf(page: string, before: Set<string>): string[] {
  const words = wordsOf(page);
  const blocks = words.findIndex((line) => line.startsWith("## "));
  const verdict = words.slice(0, blocks < 0 ? words.length : blocks);
  const whole = verdict.join("\n");
  const others = new Set(words.slice(verdict.length).filter((line) => !before.has(line)));
  const own = before.has(whole) ? [verdict[0] ?? "", "(the verdict as above)"] : verdict;
  for (const line of [...words, whole]) before.add(line);
  return [...own, ...others];
}

/** Compares what pages say with a golden file, each below its world and its address. None has markup that the service sent. */
export async function expectGolden(file: string, worlds: readonly GoldenWorld[]): Promise<void> {
  const told: string[] = [];
  const before = new Set<string>();
  for (const { of, pages, fill, paths } of worlds) {
    await using opened = pages ? undefined : await openMirrorPages(fill);
    told.push(`######## ${of}`, "");
    for (const path of paths) {
      const reply = await (pages ?? opened)?.get(path);
      const page = (await reply?.text()) ?? "";
      expectHarmless(page, path);
      const shown = path.replace(/\d{4}-\d\d-\d\d/g, "DATE").replace(/[0-9a-f]{16}/g, "ID");
      told.push(`==== ${shown} ${reply?.status}`, ...ownWordsOf(page, before), "");
    }
  }
  await expect(told.join("\n")).toMatchFileSnapshot(file);
}
