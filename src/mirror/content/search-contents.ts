/**
 * The three searches, answered from the index that `docmirror sync --content` keeps. All words of a query must
 * stand in a page. The page whose title is the query comes first, then the best rank, then the lowest id.
 * Files that are deleted, or whose project is, are not found. Those of a project that the service's list never
 * showed are: its file list shows them, and its own searches find them. Only the doc search knows no such project.
 *
 * A common word stands on every page. Counting those pages is cheap, but a rank needs the words of a page. So
 * the first pages by title and id are the pool that is ranked, and the pages behind it follow by title and id.
 */

import { alias } from "drizzle-orm/pg-core";
import type { FoundDocs } from "../../resources/resources.ts";
import { compose, runStatement } from "../../store/connection/run-statement.ts";
import type { Sql, TransactionSql } from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { withTransaction } from "../../store/connection/transaction.ts";
import type { Anchor } from "../../store/schema/file-contents.ts";
import { fileAnchors, fileContents, files, projects } from "../../store/schema/index.ts";
import { anchorLink, docLink, type PageAddress } from "./page-url.ts";
import {
  EM,
  HIGHLIGHTED,
  hasMatch,
  parseQuery,
  type SearchQuery,
  snippet,
  titleKey,
} from "./search-words.ts";

const FILE_HITS_PER_PAGE = 20;
const MAX_HITS = 50;

const anchor = alias(fileAnchors, "anchor");
const content = alias(fileContents, "content");
const file = alias(files, "file");
const project = alias(projects, "project");

/** How many pages are ranked. A whole number of pages of hits. */
const POOL = 200;
const CANDIDATES = 500;
/** How much of a text is read for its snippet at first, in characters. The match is nearly always there. */
const FIRST_READ = 16_384;

/** Narrows a search. Both are slugs. */
export interface SearchScope {
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
  const inOrder = compose`words, length(${anchor.file_id}), ${anchor.file_id}, ${anchor.position}`;
  const matched = compose`
    select ${anchor.file_id}, ${anchor.position}, length(${anchor.search}) as words
    from ${fileAnchors} as ${anchor}
    where ${anchor.search} @@ ${tsquery(query)}`;
  const best = candidates === null ? matched : compose`${matched} order by ${inOrder} limit ${candidates}`;
  return runStatement<PageAddress & { anchors: Anchor[]; position: number }>(
    tx,
    compose`
      with ${anchor} as (${best}),
      hit as (
        select ${anchor}.* from ${anchor} join ${fileContents} as ${content} on ${content.file_id} = ${anchor.file_id}
        where ${isShown(scope)}
        order by ${inOrder} limit ${MAX_HITS}
      )
      select ${content.anchors}, ${anchor.position}, ${ADDRESS}
      from hit as ${anchor}
      join ${fileContents} as ${content} on ${content.file_id} = ${anchor.file_id}
      join ${files} as ${file} on ${file.id} = ${anchor.file_id}
      left join ${projects} as ${project} on ${project.id} = ${content.project_id}
      order by ${inOrder}`,
    { prepare: true },
  );
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
    const addresses = await findAddresses(tx, hits);
    return {
      total,
      maxScore: hits.length === 0 ? null : Math.max(...hits.map(({ rank }) => Number(rank.toFixed(8)))),
      hits: hits.flatMap((hit, place) => {
        const address = addresses.get(hit.fileId);
        if (address === undefined) return [];
        const title = hit.title || (address.name ?? "");
        return [{ ...docLink(address), project, title, version, content: [texts[place] ?? ""] }];
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

interface PageHit {
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
  const rank = isRanked ? compose`ts_rank(${content.search}, ${tsquery(query)})` : compose`0::real`;
  const [row] = await runStatement<{ total: number; hits: PageHit[] }>(
    tx,
    compose`
      with matched as materialized (
        select ${content.file_id}, coalesce(${content.title_key} = ${titleKey(query.folded)}, false) as is_exact,
          coalesce(${content.title_search} @@ ${tsquery(query)}, false) as in_title
        from ${fileContents} as ${content}
        where ${content.search} @@ ${tsquery(query)} and ${isShown(scope)}
      ), pool as (
        select * from matched
        order by is_exact desc, in_title desc, length(file_id), file_id
        limit ${isRanked ? POOL : limit} offset ${isRanked ? 0 : offset}
      ), ranked as (
        select pool.*, ${rank} as rank
        from pool join ${fileContents} as ${content} on ${content.file_id} = pool.file_id
      ), hit as (
        select row_number() over (
            order by is_exact desc, rank desc, ${isRanked ? undefined : compose`in_title desc, `} length(file_id), file_id
          ) as place, file_id, rank
        from ranked order by place limit ${limit} offset ${isRanked ? offset : 0}
      )
      select (select count(*) from matched) as total, coalesce((
        select jsonb_agg(jsonb_build_object('fileId', hit.file_id, 'rank', rank, 'title', ${content.title},
          'start', left(${content.text}, ${FIRST_READ})) order by place)
        from hit join ${fileContents} as ${content} on ${content.file_id} = hit.file_id
      ), '[]') as hits`,
    { prepare: true },
  );
  return row ?? { total: 0, hits: [] };
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

async function findAddresses(tx: TransactionSql, hits: readonly PageHit[]) {
  const ids = hits.map(({ fileId }) => fileId);
  const rows = await runStatement<PageAddress & { id: string }>(
    tx,
    compose`
      select ${file.id}, ${ADDRESS}
      from ${fileContents} as ${content}
      join ${files} as ${file} on ${file.id} = ${content.file_id}
      left join ${projects} as ${project} on ${project.id} = ${content.project_id}
      where ${content.file_id} = any (${compose.param(ids)}::text[])`,
    { prepare: true },
  );
  return new Map(rows.map(({ id, ...address }) => [id, address]));
}

const ADDRESS = compose`
  ${file.absolute_url} as "absoluteUrl", ${file.path}, ${file.name}, ${content.url}, ${project.subdomain}`;

/** Within a select, so that it is made once. */
const tsquery = ({ folded }: SearchQuery) => compose`(select plainto_tsquery('simple', ${folded}))`;

/** Whether a page may be found: its file and project are there, and in the scope. */
const isShown = (scope: SearchScope) => compose`
  not exists (select from ${files} where ${files.id} = ${content.file_id} and ${files.deleted_at} is not null)
  and not exists (
    select from ${projects} where ${projects.id} = ${content.project_id} and ${projects.deleted_at} is not null
  )
  ${
    scope.project === undefined
      ? undefined
      : compose`and ${content.project_id} in (
          select ${projects.id} from ${projects} where ${projects.slug} = ${toText(scope.project)})`
  }
  ${scope.version === undefined ? undefined : compose`and ${content.version} = ${toText(scope.version)}`}`;

/** A text that Postgres takes as a parameter. */
function toText(slug: string): string {
  return slug.replaceAll("\0", "\uFFFD").toWellFormed();
}
