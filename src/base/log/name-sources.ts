import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";

/** Where the program is built, each file has its map beside it. In `src` there is none. */
const HERE = new URL(".", import.meta.url).href;

/**
 * The text with `src/…` in the place of the built files that its stack traces name. Node's own way reads every
 * map at the start; this reads those of the files in a trace, when it is printed.
 */
export function nameSources(text: string, folder: string = HERE): string {
  if (!text.includes(folder)) return text;
  return text.split(folder).reduce((before, after) => {
    const [place = "", file = "", line, column] = /^([\w.-]+\.js):(\d+):(\d+)/.exec(after) ?? [];
    const source = findSource(new URL(`${folder}${file}.map`), Number(line), Number(column));
    return source === null ? `${before}${folder}${after}` : `${before}${source}${after.slice(place.length)}`;
  });
}

/** Lines and columns count from 1 in a trace, and from 0 in a map. */
function findSource(map: URL, line: number, column: number): string | null {
  const entry = readMap(map)?.findEntry(line - 1, column - 1);
  if (entry === undefined || !("originalSource" in entry)) return null;
  const { originalSource, originalLine, originalColumn } = entry;
  return `${originalSource.replace(/^(\.\.\/)+/, "")}:${originalLine + 1}:${originalColumn + 1}`;
}

const maps = new Map<string, SourceMap | null>();

function readMap(url: URL): SourceMap | null {
  const known = maps.get(url.href);
  if (known !== undefined) return known;
  const map = existsSync(url) ? new SourceMap(JSON.parse(readFileSync(url, "utf8"))) : null;
  maps.set(url.href, map);
  return map;
}
