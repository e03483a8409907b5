/**
 * The three searches, answered from the index that `docmirror sync --content` keeps. All words of a query must
 * stand in a page. The page whose title is the query comes first, then the best rank, then the lowest id.
 * Deleted files and projects are not found, nor are projects that the service's list never showed.
 *
 * A common word stands on every page. Counting those pages is cheap, but a rank needs the words of a page. So
 * the first pages by title and id are the pool that is ranked, and the pages behind it follow by title and id.
 */
import type { AnySql, Sql } from "../db/connect.ts";
import type { Anchor } from "../db/schema/file-contents.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import type { DocHits } from "../wire/doc-hits.ts";
import { anchorLink, docLink, type PageAddress } from "./page-links.ts";
import { parseQuery, type Query } from "./parse-query.ts";
import { EM, HIGHLIGHTED, hasMatch, snippet } from "./snippet.ts";
import { titleKey } from "./title-key.ts";

/** Hits on one page of the file search. */
export const FILE_HITS_PER_PAGE = 20;
/** The most hits of an anchor search and of a doc search. */
export const MAX_HITS = 50;

/** How many pages are ranked. A whole number of pages of hits. */
const POOL = 400;
/** How much of a text is read for its snippet at first, in characters. The match is nearly always there. */
const FIRST_READ = 16_384;

/** Narrows a search. Both are slugs. */
export interface SearchScope {
  /** @default every project */
  project?: string | undefined;
  /** @default every version */
  version?: string | undefined;
}

export interface FileSearch extends SearchScope {
  q: string;
  /** From 1. A page behind the last one has no hits. @default 1 */
  page?: number;
}

export interface FileSearchHit {
  fileId: string;
  /** A snippet of HTML: the words in spans of class `highlighted`, all else escaped. */
  text: string;
}

/** Finds files by the words of their pages, 20 a page. Throws `StoreError`. */
export async function findFiles(
  sql: Sql,
  { q, page = 1, ...scope }: FileSearch,
): Promise<{ total: number; hits: FileSearchHit[] }> {
  const query = parseQuery(q);
  if (query === null || !Number.isSafeInteger(page) || page < 1) return { total: 0, hits: [] };
  return withStoreErrors("search the files", async () => {
    const limit = FILE_HITS_PER_PAGE;
    const offset = Math.min((page - 1) * limit, 2 ** 31);
    const { total, hits } = await findPages(sql, query, scope, { limit, offset });
    const texts = await readSnippets(sql, query, hits, (text) => snippet(text, query.words, HIGHLIGHTED));
    return { total, hits: hits.map(({ fileId }, place) => ({ fileId, text: texts[place] ?? "" })) };
  });
}

/**
 * Finds places within pages by their headings and terms: absolute URLs, at most 50, those with the fewest
 * other words first. All words must stand in the same heading. Throws `StoreError`.
 */
export async function findAnchors(sql: Sql, { q, ...scope }: SearchScope & { q: string }): Promise<string[]> {
  const query = parseQuery(q);
  if (query === null) return [];
  return withStoreErrors("search the anchors", async () => {
    const found = await sql<(PageAddress & { anchors: Anchor[]; position: number })[]>`
      select content.anchors, found.position, ${addressOf(sql)}
      from (
        select anchor.file_id, anchor.position, length(anchor.search) as words
        from mirror.file_anchors as anchor
        join mirror.file_contents as content on content.file_id = anchor.file_id
        where anchor.search @@ ${tsquery(sql, query)} and ${isShown(sql, scope)}
        order by words, length(anchor.file_id), anchor.file_id, anchor.position
        limit ${MAX_HITS}
      ) as found
      join mirror.file_contents as content on content.file_id = found.file_id
      join mirror.files as file on file.id = found.file_id
      left join mirror.projects as project on project.id = content.project_id
      order by found.words, length(found.file_id), found.file_id, found.position`;
    return found.flatMap(({ anchors, position, ...address }) => {
      const anchor = anchors[position];
      return anchor === undefined ? [] : [anchorLink(address, anchor.id)];
    });
  });
}

/**
 * Finds pages of one version of a project, at most 50. Undefined when there is no such project. A version that
 * is not there has no hits. Throws `StoreError`.
 */
export async function findDocs(
  sql: Sql,
  { project, version, q }: { project: string; version: string; q: string },
): Promise<DocHits | undefined> {
  const slug = toText(project);
  return withStoreErrors("search the documents", async () => {
    const known = await sql`
      select from mirror.projects where slug = ${slug} and deleted_at is null and listed limit 1`;
    if (known.length === 0) return undefined;
    const query = parseQuery(q);
    if (query === null) return { total: 0, maxScore: null, hits: [] };
    const scope = { project: slug, version };
    const { total, hits } = await findPages(sql, query, scope, { limit: MAX_HITS, offset: 0 });
    const texts = await readSnippets(sql, query, hits, (text) => snippet(text, query.words, EM));
    const addresses = await findAddresses(sql, hits);
    return {
      total,
      maxScore: hits.length === 0 ? null : Math.max(...hits.map(({ rank }) => Number(rank.toFixed(8)))),
      hits: hits.flatMap((hit, place) => {
        const address = addresses.get(hit.fileId);
        if (address === undefined) return [];
        const { link, path } = docLink(address);
        const title = hit.title ?? "";
        const content = [texts[place] ?? ""];
        return [
          { link, path, project, title: title === "" ? (address.name ?? "") : title, version, content },
        ];
      }),
    };
  });
}

interface PageHit {
  fileId: string;
  title: string | null;
  /** The beginning of the text, `FIRST_READ` characters at most. */
  start: string | null;
  rank: number;
}

/** One page of hits in their order, and how many there are in all. */
async function findPages(
  sql: Sql,
  query: Query,
  scope: SearchScope,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ total: number; hits: PageHit[] }> {
  const isRanked = offset < POOL;
  const [row] = await sql<{ total: number; hits: PageHit[] }[]>`
    with matched as materialized (
      select content.file_id, coalesce(content.title_key = ${titleKey(query.folded)}, false) as is_exact,
        coalesce(content.title_search @@ ${tsquery(sql, query)}, false) as in_title
      from mirror.file_contents as content
      where content.search @@ ${tsquery(sql, query)} and ${isShown(sql, scope)}
    ), pool as (
      select * from matched
      order by is_exact desc, in_title desc, length(file_id), file_id
      limit ${isRanked ? POOL : limit} offset ${isRanked ? 0 : offset}
    ), ranked as (
      select pool.*, ${isRanked ? sql`ts_rank(content.search, ${tsquery(sql, query)})` : sql`0::real`} as rank
      from pool join mirror.file_contents as content on content.file_id = pool.file_id
    ), hit as (
      select row_number() over (
          order by is_exact desc, rank desc, ${isRanked ? sql`` : sql`in_title desc, `} length(file_id), file_id
        ) as place, file_id, rank
      from ranked order by place limit ${limit} offset ${isRanked ? offset : 0}
    )
    select (select count(*) from matched) as total, coalesce((
      select jsonb_agg(jsonb_build_object('fileId', hit.file_id, 'rank', rank, 'title', title,
        'start', left(text, ${FIRST_READ})) order by place)
      from hit join mirror.file_contents as content on content.file_id = hit.file_id
    ), '[]') as hits`;
  return row ?? { total: 0, hits: [] };
}

/** Makes a snippet for each hit. A text is read on only where its beginning has none of the words. */
async function readSnippets(
  sql: Sql,
  { words }: Query,
  hits: readonly PageHit[],
  make: (text: string) => string,
): Promise<string[]> {
  const isLater = ({ start }: PageHit) => start?.length === FIRST_READ && !hasMatch(start, words);
  const ids = hits.filter(isLater).map(({ fileId }) => fileId);
  const whole = new Map<string, string>();
  // One by one: each may be hundreds of kilobytes.
  for (const id of ids) {
    const [row] = await sql<{ text: string | null }[]>`
      select text from mirror.file_contents where file_id = ${id}`;
    if (row?.text) whole.set(id, row.text);
  }
  return hits.map(({ fileId, start, title }) => {
    const text = whole.get(fileId) ?? start ?? "";
    const isInTitle = !hasMatch(text, words) && title !== null && hasMatch(title, words);
    return make(isInTitle ? title : text);
  });
}

async function findAddresses(sql: Sql, hits: readonly PageHit[]): Promise<Map<string, PageAddress>> {
  const rows = await sql<(PageAddress & { id: string })[]>`
    select file.id, ${addressOf(sql)}
    from mirror.file_contents as content
    join mirror.files as file on file.id = content.file_id
    left join mirror.projects as project on project.id = content.project_id
    where content.file_id = any (${hits.map(({ fileId }) => fileId)}::text[])`;
  return new Map(rows.map(({ id, ...address }) => [id, address]));
}

const addressOf = (sql: Sql) => sql`
  file.absolute_url as "absoluteUrl", file.path, file.name, content.url, project.subdomain`;

const tsquery = (sql: AnySql, { folded }: Query) => sql`plainto_tsquery('simple', ${folded})`;

/** Whether a page may be found: its file and project are there, and in the scope. */
const isShown = (sql: Sql, { project, version }: SearchScope) => sql`
  not exists (select from mirror.files where files.id = content.file_id and files.deleted_at is not null)
  and not exists (
    select from mirror.projects
    where projects.id = content.project_id and (projects.deleted_at is not null or not projects.listed)
  )
  ${project === undefined ? sql`` : sql`and content.project_id in (select id from mirror.projects where slug = ${toText(project)})`}
  ${version === undefined ? sql`` : sql`and content.version = ${toText(version)}`}`;

/** A text that Postgres takes as a parameter. A slug that differs from it is not there. */
function toText(slug: string): string {
  return slug.replaceAll("\0", "\uFFFD").toWellFormed();
}
