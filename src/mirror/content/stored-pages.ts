import { hash } from "node:crypto";
import { messageOf } from "../../base/errors.ts";
import { type AnySql, type Sql, statement, withTransaction } from "../../store/connection/sql.ts";
import { isPassing, sqlstateOf } from "../../store/connection/store-errors.ts";
import { GONE } from "../api/fates.ts";
import type { Validators } from "../api/page-client.ts";
import type { PageContent } from "./read-page.ts";
import { foldWords, titleKey } from "./search-contents.ts";

const FIND_DUE_PAGES = statement<DuePage>("find_due_pages", import.meta.url);
const STORE_ANSWERS = statement("store_answers", import.meta.url);
const DROP_CONTENTS = statement("drop_contents", import.meta.url);
const STORE_CONTENTS = statement<{ id: string }>("store_contents", import.meta.url);
const STORE_ANCHORS = statement("store_anchors", import.meta.url);

export interface DuePage extends Validators {
  fileId: string;
  projectId: string | null;
  absoluteUrl: string | null;
  path: string | null;
  url: string | null;
  isIndexed: boolean;
  /** The number of all pages that are due. */
  due: number;
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
  return FIND_DUE_PAGES(sql, { ...facts, gone: GONE, limit });
}

export async function countDuePages(sql: Sql, facts: DuePageFacts): Promise<number> {
  const [first] = await findDuePages(sql, facts, 1);
  return first?.due ?? 0;
}

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

/** The end of one request for a page. */
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

/** A page that Postgres refuses gets its reason, the others are stored. Safe to repeat. */
export async function storeContents(options: StoreOptions, pages: readonly AskedPage[]): Promise<void> {
  try {
    await withTransaction(options.sql, (tx) => storeBatch(tx, options, pages));
  } catch (error) {
    const [page] = pages;
    if (page === undefined || isPassing(error) || !/^(?:22|54)/.test(sqlstateOf(error) ?? "")) throw error;
    const reason = `cannot be indexed: ${messageOf(error)}`;
    const refused: AskedPage = { ...page, outcome: { kind: "none", status: 200, reason } };
    if (pages.length > 1) for (const one of pages) await storeContents(options, [one]);
    else await withTransaction(options.sql, (tx) => storeBatch(tx, options, [refused]));
  }
}

async function storeBatch(tx: AnySql, { runId, docsUrl }: StoreOptions, pages: readonly AskedPage[]) {
  const answers = JSON.stringify(pages.map(answerOf));
  await STORE_ANSWERS(tx, { answers, docsUrl, runId });
  const gone = pages.flatMap(({ fileId, outcome }) => (outcome.kind === "none" ? [fileId] : []));
  if (gone.length > 0) await DROP_CONTENTS(tx, { fileIds: gone, runId });
  const contents = pages.flatMap(({ fileId, outcome }) =>
    outcome.kind === "page" ? [contentOf(fileId, outcome.content)] : [],
  );
  const stored =
    contents.length > 0 ? await STORE_CONTENTS(tx, { contents: JSON.stringify(contents), runId }) : [];
  const changed = stored.map(({ id }) => id);
  if (gone.length + changed.length === 0) return;
  await tx`delete from mirror.file_anchors where file_id = any (${[...gone, ...changed]}::text[])`;
  const anchors = contents
    .filter(({ file_id }) => changed.includes(file_id))
    .flatMap(({ file_id, anchors }) =>
      anchors.map(({ text }, position) => ({ file_id, position, words: foldWords(text) })),
    );
  await STORE_ANCHORS(tx, { anchors: JSON.stringify(anchors) });
}

function answerOf({ outcome, ...page }: AskedPage) {
  const { etag = null, lastModified = null } = outcome.kind === "page" ? outcome.validators : {};
  return {
    file_id: page.fileId,
    project_id: page.projectId,
    version: page.version,
    absolute_url: page.absoluteUrl,
    url: page.url,
    asked_at: page.askedAt,
    http_status: outcome.status,
    reason: "reason" in outcome ? cutReason(outcome.reason) : null,
    etag,
    last_modified: lastModified,
    fetched_at: outcome.kind === "page" ? outcome.receivedAt : null,
  };
}

function contentOf(fileId: string, content: PageContent) {
  const { title, text, anchors } = content;
  return {
    file_id: fileId,
    title,
    text,
    anchors,
    content_hash: hashOf(content),
    title_key: titleKey(title),
    title_words: foldWords(title),
    words: cutBytes(foldWords(text), MAX_INDEXED_BYTES),
  };
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
