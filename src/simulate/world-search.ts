import type { DocHit, DocHits } from "../protocol/catalog.ts";
import type { FileHit } from "../wire/file.ts";
import type { FileRow, Population } from "./population.ts";
import { createRandom, hash, STREAM } from "./random.ts";
import { filePath, type Records, subdomain } from "./records.ts";
import { sentence } from "./words.ts";

/**
 * The interface has no limit for searches (`docs/interface.md`, "Searches"). Ours is the page size of lists.
 */
const MAX_HITS = 20;
const FILES_A_PAGE = 20;

/** The content of a file, computed from its id: a few sentences. */
export function fileText(seed: number, id: number): string {
  const random = createRandom(hash(seed, STREAM.fileText, id));
  let text = sentence(random, 8 + random.int(8));
  for (let more = 1 + random.int(4); more > 0; more--) text += ` ${sentence(random, 6 + random.int(10))}`;
  return text;
}

/** The three searches by whole words, ignoring case. All words of the query must occur. */
export function createWorldSearch(seed: number, population: Population, records: Records) {
  function* matches(pattern: readonly RegExp[], rows: Iterable<FileRow>): Iterable<[FileRow, string]> {
    for (const row of rows) {
      const text = fileText(seed, row.id);
      if (pattern.every((word) => word.test(text))) yield [row, text];
    }
  }

  return {
    async searchFiles({ q, page }: { q: string; page: number }): Promise<FileHit[]> {
      const words = wordPatterns(q);
      let before = (page - 1) * FILES_A_PAGE;
      const hits: FileHit[] = [];
      if (words.length === 0) return hits;
      for (const [row, text] of matches(words, population.files.ordered)) {
        if (before-- > 0) continue;
        hits.push({
          ...records.file(row),
          text: snippet(text, words, '<span class="highlighted">', "</span>"),
        });
        if (hits.length === FILES_A_PAGE) break;
      }
      return hits;
    },

    async searchAnchors(q: string): Promise<string[]> {
      const words = wordPatterns(q);
      const found: string[] = [];
      if (words.length === 0) return found;
      for (const row of population.files.ordered) {
        const path = filePath(seed, row.id);
        const anchor = path.slice(path.lastIndexOf("/") + 1).replace(/\.html$/, "");
        if (!words.every((word) => word.test(anchor))) continue;
        // The recorded service has the same fault, a missing colon. A client must cope with it here too.
        const host = subdomain(row.version.project.slug).replace("http://", "http//");
        found.push(`${host}en/${row.version.slug}/${path}#${anchor}`);
        if (found.length === MAX_HITS) break;
      }
      return found;
    },

    async searchDocs(query: { project: string; version: string; q: string }): Promise<DocHits | undefined> {
      const project = population.listedProjects.ordered.find((row) => row.slug === query.project);
      if (!project) return undefined;
      const words = wordPatterns(query.q);
      const hits: DocHit[] = [];
      const pages = population.files.ordered.filter(
        ({ version }) => version.project === project && version.slug === query.version,
      );
      for (const [row, text] of words.length === 0 ? [] : matches(words, pages)) {
        const path = filePath(seed, row.id);
        const bare = path.replace(/\.html$/, "");
        hits.push({
          link: `${subdomain(project.slug)}en/${query.version}/${bare}`,
          path: bare,
          project: project.slug,
          title: path.slice(path.lastIndexOf("/") + 1),
          version: query.version,
          content: [snippet(text, words, "<em>", "</em>")],
        });
      }
      // The score is only shown and orders nothing: the fewer hits, the higher the score of each.
      const maxScore = hits.length === 0 ? null : Number((1 / (1 + Math.log1p(hits.length))).toFixed(8));
      return { total: hits.length, maxScore, hits: hits.slice(0, MAX_HITS) };
    },
  };
}

function wordPatterns(q: string): RegExp[] {
  return q
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== "")
    .map((word) => new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, "iu"));
}

/** Some words around the first match, with the matched words marked. */
function snippet(text: string, words: readonly RegExp[], open: string, close: string): string {
  const first = Math.min(...words.map((word) => text.search(word)));
  const start = first <= 40 ? 0 : text.indexOf(" ", first - 40) + 1;
  const end = Math.min(text.length, start + 100);
  let cut = text.slice(start, end);
  for (const word of words) cut = cut.replace(new RegExp(word.source, "giu"), `${open}$&${close}`);
  return `${start > 0 ? "..." : ""}${cut}${end < text.length ? "..." : ""}`;
}
