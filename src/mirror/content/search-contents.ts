/**
 * The three searches, answered from the index that `docmirror sync --content` keeps. All words of a query must
 * stand in a page. The page whose title is the query comes first, then the best rank, then the lowest id.
 * Files that are deleted, or whose project is, are not found. Those of a project that the service's list never
 * showed are: its file list shows them, and its own searches find them. Only the doc search knows no such project.
 *
 * A common word stands on every page. Counting those pages is cheap, but a rank needs the words of a page. So
 * the first pages by title and id are the pool that is ranked, and the pages behind it follow by title and id.
 */
import type { FoundDocs } from "../../resources/resources.ts";
import {
  compose,
  oneRow,
  piece,
  runStatement,
  type Sql,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import type { Anchor } from "../../store/schema/file-contents.ts";
import { anchorLink, docLink, type PageAddress } from "./page-url.ts";

const FILE_HITS_PER_PAGE = 20;
const MAX_HITS = 50;

const FIND_PAGES = piece("find_pages", import.meta.url);
const FIND_ANCHORS = piece("find_anchors", import.meta.url);

/** So many pages are ranked. A whole number of pages of hits. */
const POOL = 200;
const CANDIDATES = 500;
/** The characters of a text that are read for its snippet at first. The match is nearly always there. */
const FIRST_READ = 16_384;

/** Narrows a search. Both are slugs. */
interface SearchScope {
  project?: string | undefined;
  version?: string | undefined;
}

/** Finds files by the words of their pages, 20 a page from 1 on. `text` is a snippet of HTML. Throws `StoreError`. */
export async function findFiles(
  sql: Sql,
  { q, page = 1, ...scope }: SearchScope & { q: string; page?: number },
): Promise<{ total: number; hits: { fileId: string; text: string }[] }> {
  const query = parseQuery(q);
  if (query === null || !Number.isSafeInteger(page) || page < 1) return { total: 0, hits: [] };
  return withIndex(sql, "search the files", async (tx) => {
    const limit = FILE_HITS_PER_PAGE;
    const offset = Math.min((page - 1) * limit, 2 ** 31);
    const { total, hits } = await findPages(tx, query, scope, { limit, offset });
    const texts = await readSnippets(tx, query, hits, (text) => snippet(text, query.words, HIGHLIGHTED));
    return { total, hits: hits.map(({ fileId }, place) => ({ fileId, text: texts[place] ?? "" })) };
  });
}

/** Finds places within pages by their headings: absolute URLs, at most 50, the fewest other words first. Throws `StoreError`. */
export async function findAnchors(sql: Sql, { q, ...scope }: SearchScope & { q: string }): Promise<string[]> {
  const query = parseQuery(q);
  if (query === null) return [];
  return withIndex(sql, "search the anchors", async (tx) => {
    const isNarrow = scope.project !== undefined || scope.version !== undefined;
    const best = await findPlaces(tx, query, scope, isNarrow ? null : CANDIDATES);
    // Only where nearly all of the best are hidden, the others matter.
    const isShort = !isNarrow && best.length < MAX_HITS;
    const places = isShort ? await findPlaces(tx, query, scope, null) : best;
    return places.flatMap(({ anchors, position, ...address }) => {
      const anchor = anchors[position];
      return anchor === undefined ? [] : [anchorLink(address, anchor.id)];
    });
  });
}

/** With `candidates` only so many of the best are looked at: whether an anchor may be shown costs more than to sort it. */
async function findPlaces(
  tx: TransactionSql,
  query: SearchQuery,
  scope: SearchScope,
  candidates: number | null,
) {
  const best =
    candidates !== null &&
    compose`order by words, length(anchor.file_id), anchor.file_id, anchor.position limit ${candidates}`;
  const places = { ...placesOf(scope), folded: query.folded, best, most: MAX_HITS };
  return runStatement<PageAddress & { anchors: Anchor[]; position: number }>(tx, FIND_ANCHORS(places), {
    prepare: true,
  });
}

/** Finds pages of a version, at most 50. Undefined when there is no such project. Throws `StoreError`. */
export async function findDocs(
  sql: Sql,
  { project, version, q }: { project: string; version: string; q: string },
): Promise<FoundDocs | undefined> {
  const slug = toText(project);
  return withIndex(sql, "search the documents", async (tx) => {
    const known = await tx`
      select from mirror.projects where slug = ${slug} and deleted_at is null and listed limit 1`;
    if (known.length === 0) return undefined;
    const query = parseQuery(q);
    if (query === null) return { total: 0, maxScore: null, hits: [] };
    const scope = { project: slug, version };
    const { total, hits } = await findPages(tx, query, scope, { limit: MAX_HITS, offset: 0 });
    const texts = await readSnippets(tx, query, hits, (text) => snippet(text, query.words, EM));
    return {
      total,
      maxScore: hits.length === 0 ? null : Math.max(...hits.map(({ rank }) => Number(rank.toFixed(8)))),
      hits: hits.map((hit, place) => {
        const title = hit.title || (hit.name ?? "");
        return { ...docLink(hit), project, title, version, content: [texts[place] ?? ""] };
      }),
    };
  });
}

/** For a common word the planner would read the words of all pages: a hundred times as long as the index. */
function withIndex<T>(sql: Sql, doing: string, search: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return withStoreErrors(doing, () =>
    withTransaction(sql, async (tx) => {
      await tx`
        select set_config('enable_seqscan', 'off', true), set_config('jit', 'off', true),
          set_config('max_parallel_workers_per_gather', '0', true)`;
      return search(tx);
    }),
  );
}

interface PageHit extends PageAddress {
  fileId: string;
  title: string | null;
  start: string | null;
  rank: number;
}

async function findPages(
  tx: TransactionSql,
  query: SearchQuery,
  scope: SearchScope,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; hits: PageHit[] }> {
  const isRanked = offset < POOL;
  const statement = FIND_PAGES({
    ...placesOf(scope),
    folded: query.folded,
    titleKey: titleKey(query.folded),
    rank: isRanked
      ? compose`ts_rank(content.search, (select plainto_tsquery('simple', ${query.folded})))`
      : compose`0::real`,
    byTitle: !isRanked && compose`in_title desc,`,
    poolSize: isRanked ? POOL : limit,
    poolOffset: isRanked ? 0 : offset,
    limit,
    offset: isRanked ? offset : 0,
    firstRead: FIRST_READ,
  });
  return oneRow(runStatement<{ total: number; hits: PageHit[] }>(tx, statement, { prepare: true }));
}

async function readSnippets(
  tx: TransactionSql,
  { words }: SearchQuery,
  hits: readonly PageHit[],
  make: (text: string) => string,
): Promise<string[]> {
  const whole = new Map<string, string>();
  // One by one: each may be hundreds of kilobytes.
  for (const { fileId, start } of hits) {
    if (start?.length !== FIRST_READ || hasMatch(start, words)) continue;
    const [row] = await tx<{ text: string | null }[]>`
      select text from mirror.file_contents where file_id = ${fileId}`;
    if (row?.text) whole.set(fileId, row.text);
  }
  return hits.map(({ fileId, start, title }) => {
    const text = whole.get(fileId) ?? start ?? "";
    const isInTitle = !hasMatch(text, words) && title !== null && hasMatch(title, words);
    return make(isInTitle ? title : text);
  });
}

/** A page may be found while its file and project are there, and in the scope. */
const placesOf = ({ project, version }: SearchScope) => ({
  ofProject:
    project !== undefined &&
    compose`and content.project_id in (select id from mirror.projects where slug = ${toText(project)})`,
  ofVersion: version !== undefined && compose`and content.version = ${toText(version)}`,
});

/** A text that Postgres takes as a parameter. */
function toText(slug: string): string {
  return slug.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** So that `os.path.join()` is three words on every server. Scripts without blanks between words are split into characters. */
export function foldWords(text: string): string {
  return text.normalize("NFC").toLowerCase().replace(UNSPACED, " $& ").replace(SEPARATORS, " ").trim();
}

/** A title or a query in the form in which they are compared for being equal. */
export function titleKey(title: string): string {
  return foldWords(title).slice(0, MAX_TITLE_KEY_LENGTH).toWellFormed();
}

/** A folded word that is a character of a script without blanks. It matches anywhere in a text. */
function isUnspaced(word: string): boolean {
  return word.replace(UNSPACED, "") === "";
}

const MAX_TITLE_KEY_LENGTH = 200;
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/gu;
const SEPARATORS = /[^\p{L}\p{M}\p{N}]+/gu;

/** A search as the index understands it. */
type SearchQuery = { folded: string; words: string[] };

/** A longer search finds nothing, so that nobody can make the database work for long. */
const MAX_QUERY_LENGTH = 1000;
/** Postgres' limit of a word in an index. */
const MAX_WORD_BYTES = 2046;

/** Null for a search that can find nothing: without a word, too long, or with a word that no index has. */
export function parseQuery(q: string): SearchQuery | null {
  if (q.length > MAX_QUERY_LENGTH) return null;
  const words = [...new Set(foldWords(q.toWellFormed()).split(" "))].filter((word) => word !== "");
  if (words.length === 0 || words.some((word) => Buffer.byteLength(word) > MAX_WORD_BYTES)) return null;
  return { folded: words.join(" "), words };
}

type Mark = { open: string; close: string };

/** As the file search and the doc search mark words (`docs/interface.md`, "Searches"). */
export const HIGHLIGHTED: Mark = { open: '<span class="highlighted">', close: "</span>" };
export const EM: Mark = { open: "<em>", close: "</em>" };

const LENGTH = 100;
const BEFORE = 40;

/** About 100 characters from before the first match, else from the start, as escaped HTML. `words` are folded (`foldWords`). */
export function snippet(text: string, words: readonly string[], mark: Mark): string {
  const matches = findMatches(text, words);
  const first = matches[0]?.start ?? 0;
  const blank = first <= BEFORE ? 0 : text.indexOf(" ", first - BEFORE) + 1;
  const start = first <= BEFORE || (blank > 0 && blank <= first) ? blank : first;
  const end = cutBefore(text, Math.min(text.length, start + LENGTH));
  let html = start > 0 ? "..." : "";
  let at = start;
  for (const match of matches) {
    if (match.end > end) break;
    html += `${escapeHtml(text.slice(at, match.start))}${mark.open}${escapeHtml(text.slice(match.start, match.end))}${mark.close}`;
    at = match.end;
  }
  return `${html}${escapeHtml(text.slice(at, end))}${end < text.length ? "..." : ""}`;
}

function hasMatch(text: string, words: readonly string[]): boolean {
  return findMatches(text, words).length > 0;
}

/** The matches within the length of one snippet from the first one on. */
function findMatches(text: string, words: readonly string[]): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (words.length === 0) return found;
  for (const match of text.matchAll(patternOf(words))) {
    if (found[0] !== undefined && match.index > found[0].start + LENGTH) break;
    found.push({ start: match.index, end: match.index + match[0].length });
  }
  return found;
}

function patternOf(words: readonly string[]): RegExp {
  const part = "[\\p{L}\\p{M}\\p{N}]";
  // A folded word holds letters, marks and digits alone, so none of it has a meaning in a pattern.
  const whole = words.filter((word) => !isUnspaced(word));
  const single = words.filter(isUnspaced);
  const choices = [
    ...(whole.length > 0 ? [`(?<!${part})(?:${whole.join("|")})(?!${part})`] : []),
    ...(single.length > 0 ? [`(?:${single.join("|")})`] : []),
  ];
  return new RegExp(choices.join("|"), "giu");
}

/** The place itself, or the one before it where it would part the two halves of a character. */
function cutBefore(text: string, place: number): number {
  return /[\uD800-\uDBFF]/.test(text.charAt(place - 1)) && place < text.length ? place - 1 : place;
}

const ESCAPES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign);
}
