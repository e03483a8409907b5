import type { Sql } from "../../store/connection/sql.ts";
import { withTransaction } from "../../store/connection/transaction.ts";
import type { Validators } from "../api/page-client.ts";

/** A file whose page is due, with what is known of the page. */
export interface DuePage extends Validators {
  fileId: string;
  projectId: string | null;
  absoluteUrl: string | null;
  path: string | null;
  /** What was requested last time, or null. */
  url: string | null;
  /** Whether a text is stored. */
  isIndexed: boolean;
}

export interface DuePageFacts {
  /** The run that asks. A page that it has asked for is not due again. */
  runId: number;
  /** The base of the pages, without credentials. */
  docsUrl: string;
  now: string;
}

/** A page without validators, and one that cannot be had, is asked for again after this time. */
const AGAIN_AFTER = "7 days";

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
        and not coalesce(content.http_status between 200 and 399 or content.http_status in (404, 410), false)
      or content.docs_url <> ${docsUrl}
      or content.absolute_url is distinct from file.absolute_url
      or file.changed_run_id > content.asked_run_id
      or content.asked_at <= ${now}::timestamptz - ${AGAIN_AFTER}::interval
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
