import { EM, HIGHLIGHTED, parseQuery, snippet } from "../mirror/content/search-words.ts";
import type { FoundDoc, FoundDocs } from "../resources/doc-hits.ts";
import type { FileHitRecord } from "../resources/file.ts";
import type { FileRow, Population } from "./population.ts";
import { filePath, type Records, subdomain } from "./records.ts";
import type { WorldPages } from "./world-pages.ts";

/** The interface has no limit for searches (`docs/interface.md`, "Searches"). Ours is the page size of lists. */
const MAX_HITS = 20;

/** The three searches by whole words, ignoring case. All words of the query must occur. */
export function createWorldSearch(deps: {
  seed: number;
  population: Population;
  records: Records;
  pages: WorldPages;
}) {
  const { seed, population, records, pages } = deps;

  function* matches(pattern: readonly RegExp[], rows: Iterable<FileRow>): Iterable<[FileRow, string]> {
    for (const row of rows) {
      const text = pages.text(row);
      if (pattern.every((word) => word.test(text))) yield [row, text];
    }
  }

  return {
    async searchFiles({ q, page }: { q: string; page: number }): Promise<FileHitRecord[]> {
      const words = wordsIn(q);
      let before = (page - 1) * MAX_HITS;
      const hits: FileHitRecord[] = [];
      if (words.length === 0) return hits;
      for (const [row, text] of matches(words.map(wordPattern), population.files.ordered)) {
        if (before-- > 0) continue;
        hits.push({ ...records.file(row), text: snippet(text, words, HIGHLIGHTED) });
        if (hits.length === MAX_HITS) break;
      }
      return hits;
    },

    async searchAnchors(q: string): Promise<string[]> {
      const words = wordsIn(q).map(wordPattern);
      const found: string[] = [];
      if (words.length === 0) return found;
      for (const row of population.files.ordered) {
        const path = filePath(seed, row.id);
        const anchor = pages.heading(row);
        if (!words.every((word) => word.test(anchor))) continue;
        // The recorded service has the same fault, a missing colon. A client must cope with it here too.
        const host = subdomain(row.version.project.slug).replace("http://", "http//");
        found.push(`${host}en/${row.version.slug}/${path}#${anchor}`);
        if (found.length === MAX_HITS) break;
      }
      return found;
    },

    async searchDocs(query: { project: string; version: string; q: string }): Promise<FoundDocs | undefined> {
      const project = population.listedProjects.ordered.find((row) => row.slug === query.project);
      if (!project) return undefined;
      const words = wordsIn(query.q);
      const hits: FoundDoc[] = [];
      const rows = population.files.ordered.filter(
        ({ version }) => version.project === project && version.slug === query.version,
      );
      for (const [row, text] of words.length === 0 ? [] : matches(words.map(wordPattern), rows)) {
        const path = filePath(seed, row.id);
        const bare = path.replace(/\.html$/, "");
        hits.push({
          link: `${subdomain(project.slug)}en/${query.version}/${bare}`,
          path: bare,
          project: project.slug,
          title: path.slice(path.lastIndexOf("/") + 1),
          version: query.version,
          content: [snippet(text, words, EM)],
        });
      }
      // The score is only shown and orders nothing: the fewer hits, the higher the score of each.
      const maxScore = hits.length === 0 ? null : Number((1 / (1 + Math.log1p(hits.length))).toFixed(8));
      return { total: hits.length, maxScore, hits: hits.slice(0, MAX_HITS) };
    },
  };
}

function wordsIn(q: string): string[] {
  return parseQuery(q)?.words ?? [];
}

/** A folded word holds letters, marks and digits alone, so none of it has a meaning in a pattern. */
function wordPattern(word: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${word}(?![\\p{L}\\p{N}])`, "iu");
}
