import { hash } from "node:crypto";
import { type AnySql, type Sql, withTransaction } from "../../store/connection/sql.ts";
import { isPassing, sqlstateOf } from "../../store/connection/store-errors.ts";
import { GONE } from "../api/fates.ts";
import type { Validators } from "../api/page-client.ts";
import type { PageContent } from "./read-page.ts";
import { foldWords, titleKey } from "./search-contents.ts";

export interface DuePage extends Validators {
  fileId: string;
  projectId: string | null;
  absoluteUrl: string | null;
  path: string | null;
  url: string | null;
  isIndexed: boolean;
}

interface DuePageFacts {
  /** The run that asks. A page that it has asked for is not due again. */
  runId: number;
  /** The base of the pages, without credentials. */
  docsUrl: string;
  now: string;
}

/** The pages that are due, the longest unasked first, at most `limit`. */
export async function findDuePages(sql: Sql, facts: DuePageFacts, limit: number): Promise<DuePage[]> {
  return sql<DuePage[]>`
    select file.id as "fileId", file.project_id as "projectId", file.absolute_url as "absoluteUrl", file.path,
      content.url, content.etag, content.last_modified as "lastModified",
      content.search is not null as "isIndexed"
    ${dueFiles(sql, facts)}
    order by content.asked_at nulls first, length(file.id), file.id
    limit ${limit}`;
}

export async function countDuePages(sql: Sql, facts: DuePageFacts): Promise<number> {
  const [row] = await sql<{ due: number }[]>`select count(*) as due ${dueFiles(sql, facts)}`;
  return row?.due ?? 0;
}

/**
 * A page is due in each run while it has validators, or while its last request failed in a way that may pass.
 * Any other is due when it is new, when its record or the base of the pages has changed, and after a week.
 * The pages of deleted projects are never due.
 */
const dueFiles = (sql: Sql, { runId, docsUrl, now }: DuePageFacts) => sql`
  from mirror.files as file
  left join mirror.projects as project on project.id = file.project_id
  left join mirror.file_contents as content on content.file_id = file.id
  where file.deleted_at is null and project.deleted_at is null
    and (content.file_id is null or content.asked_run_id <> ${runId}::bigint and (
      content.etag is not null or content.last_modified is not null
      or content.reason is not null and content.url is not null
        and not coalesce(content.http_status between 200 and 399 or content.http_status = any (${GONE}::smallint[]), false)
      or content.docs_url <> ${docsUrl}
      or content.absolute_url is distinct from file.absolute_url
      or file.changed_run_id > content.asked_run_id
      or content.asked_at <= ${now}::timestamptz - interval '7 days'
    ))`;

/** Removes the pages of files that were deleted, and follows files that belong to another project now. */
export async function dropDeletedFiles(sql: Sql): Promise<void> {
  await withTransaction(sql, async (tx) => {
    await tx`
      delete from mirror.file_contents using mirror.files
      where files.id = file_id and files.deleted_at is not null`;
    await tx`
      update mirror.file_contents set project_id = files.project_id from mirror.files
      where files.id = file_id and file_contents.project_id is distinct from files.project_id`;
  });
}

/** What one request for a page led to. */
export type PageOutcome =
  | { kind: "page"; status: number; content: PageContent; validators: Validators; receivedAt: string }
  | { kind: "unchanged"; status: number }
  /** There is no such page, or none that can be read, and asking again soon will not help. */
  | { kind: "none"; status: number | null; reason: string }
  /** No usable answer for now, or `robots.txt` keeps it from us. What was read before stays in the index. */
  | { kind: "failed" | "left out"; status: number | null; reason: string };

export interface AskedPage {
  fileId: string;
  projectId: string | null;
  version: string | null;
  absoluteUrl: string | null;
  /** Without credentials. Null when the address leads elsewhere, so that nothing was requested. */
  url: string | null;
  askedAt: string;
  outcome: PageOutcome;
}

/** `docsUrl`: the base of the pages, without credentials. */
type StoreOptions = { sql: Sql; runId: number; docsUrl: string };

/** Keeps a tsvector, which needs two bytes for each at worst and the title, below the 1 MB of Postgres. */
const MAX_INDEXED_BYTES = 400_000;
const MAX_REASON_LENGTH = 300;

/** A page that Postgres refuses gets its reason, the others are stored. Returns how many changed the index. Safe to repeat. */
export async function storeContents(options: StoreOptions, pages: readonly AskedPage[]): Promise<number> {
  try {
    return await withTransaction(options.sql, (tx) => storeBatch(tx, options, pages));
  } catch (error) {
    const [page] = pages;
    if (page === undefined || isPassing(error) || !/^(?:22|54)/.test(sqlstateOf(error) ?? "")) throw error;
    if (pages.length > 1) {
      let changed = 0;
      for (const one of pages) changed += await storeContents(options, [one]);
      return changed;
    }
    const reason = `cannot be indexed: ${error instanceof Error ? error.message : String(error)}`;
    const refused: AskedPage = { ...page, outcome: { kind: "none", status: 200, reason } };
    return await withTransaction(options.sql, (tx) => storeBatch(tx, options, [refused]));
  }
}

async function storeBatch(tx: AnySql, { runId, docsUrl }: StoreOptions, pages: readonly AskedPage[]) {
  const asked = pages.map(({ outcome, ...page }) => ({
    file_id: page.fileId,
    project_id: page.projectId,
    version: page.version,
    absolute_url: page.absoluteUrl,
    url: page.url,
    asked_at: page.askedAt,
    http_status: outcome.status,
    reason: "reason" in outcome ? cutReason(outcome.reason) : null,
  }));
  // Validators belong to the content of one address. Where a new address fails, those of the old one must go.
  await tx`
    insert into mirror.file_contents as kept (file_id, project_id, version, absolute_url, docs_url, url, http_status, reason,
      asked_at, asked_run_id, changed_run_id)
    select file_id, project_id, version, absolute_url, ${docsUrl}, url, http_status, reason, asked_at, ${runId}::bigint, ${runId}::bigint
    from jsonb_to_recordset(${JSON.stringify(asked)}::text::jsonb) as page (file_id text, project_id text, version text,
      absolute_url text, url text, http_status smallint, reason text, asked_at timestamptz)
    on conflict (file_id) do update set project_id = excluded.project_id, version = excluded.version,
      absolute_url = excluded.absolute_url, docs_url = excluded.docs_url, url = excluded.url,
      http_status = excluded.http_status, reason = excluded.reason, asked_at = excluded.asked_at,
      asked_run_id = excluded.asked_run_id,
      etag = case when kept.url = excluded.url then kept.etag end,
      last_modified = case when kept.url = excluded.url then kept.last_modified end`;
  const gone = pages.flatMap(({ fileId, outcome }) => (outcome.kind === "none" ? [fileId] : []));
  return (await dropContents(tx, runId, gone)) + (await storeChanged(tx, runId, pages));
}

/** Takes pages out of the index. Their rows stay, with the reason. */
async function dropContents(tx: AnySql, runId: number, fileIds: readonly string[]): Promise<number> {
  if (fileIds.length === 0) return 0;
  const ids = [...fileIds];
  await tx`delete from mirror.file_anchors where file_id = any (${ids}::text[])`;
  const { count } = await tx`
    update mirror.file_contents set title = null, text = null, anchors = null, etag = null, last_modified = null,
      fetched_at = null, content_hash = null, title_key = null, title_search = null, search = null,
      changed_run_id = ${runId}::bigint
    where file_id = any (${ids}::text[]) and content_hash is not null`;
  return count;
}

async function storeChanged(tx: AnySql, runId: number, pages: readonly AskedPage[]): Promise<number> {
  const read = pages.flatMap(({ fileId, outcome }) => {
    if (outcome.kind !== "page") return [];
    const { content, validators, receivedAt } = outcome;
    const { title, text, anchors } = content;
    const answer = { etag: validators.etag, last_modified: validators.lastModified, fetched_at: receivedAt };
    return [
      {
        ...{ file_id: fileId, title, text, anchors, answer },
        content_hash: hashOf(content),
        title_key: titleKey(title),
        title_words: foldWords(title),
        words: cutBytes(foldWords(text), MAX_INDEXED_BYTES),
      },
    ];
  });
  if (read.length === 0) return 0;
  const answers = read.map(({ file_id, answer }) => ({ file_id, ...answer }));
  await tx`
    update mirror.file_contents as kept
    set etag = page.etag, last_modified = page.last_modified, fetched_at = page.fetched_at
    from jsonb_to_recordset(${JSON.stringify(answers)}::text::jsonb)
      as page (file_id text, etag text, last_modified text, fetched_at timestamptz)
    where kept.file_id = page.file_id`;
  // An equal page is not written again: its index entries cost the most of all this.
  const changed = await tx<{ id: string }[]>`
    update mirror.file_contents as kept
    set title = page.title, text = page.text, anchors = page.anchors, content_hash = decode(page.content_hash, 'hex'),
      title_key = page.title_key, title_search = to_tsvector('simple', page.title_words),
      search = setweight(to_tsvector('simple', page.title_words), 'A') || to_tsvector('simple', page.words),
      changed_run_id = ${runId}::bigint
    from jsonb_to_recordset(${JSON.stringify(read)}::text::jsonb) as page (file_id text, title text, text text,
      anchors jsonb, content_hash text, title_key text, title_words text, words text)
    where kept.file_id = page.file_id and kept.content_hash is distinct from decode(page.content_hash, 'hex')
    returning kept.file_id as id`;
  if (changed.length === 0) return 0;
  const ids = changed.map(({ id }) => id);
  await tx`delete from mirror.file_anchors where file_id = any (${ids}::text[])`;
  const anchors = read
    .filter(({ file_id }) => ids.includes(file_id))
    .flatMap(({ file_id, anchors }) =>
      anchors.map(({ text }, position) => ({ file_id, position, words: foldWords(text) })),
    );
  await tx`
    insert into mirror.file_anchors (file_id, position, search)
    select file_id, position, to_tsvector('simple', words)
    from jsonb_to_recordset(${JSON.stringify(anchors.filter(({ words }) => words !== ""))}::text::jsonb)
      as anchor (file_id text, position integer, words text)`;
  return changed.length;
}

/** The longest beginning of whole words that has at most `maxBytes` bytes in UTF-8. */
function cutBytes(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const cut = Buffer.from(text).subarray(0, maxBytes).toString("utf8");
  return cut.slice(0, Math.max(0, cut.lastIndexOf(" ")));
}

function cutReason(reason: string): string {
  const clean = reason.replace(/\p{Cc}+/gu, " ").toWellFormed();
  return clean.slice(0, MAX_REASON_LENGTH).toWellFormed();
}

function hashOf({ title, text, anchors }: PageContent): string {
  return hash("sha256", JSON.stringify([title, text, anchors]), "hex").slice(0, 32);
}
