import { spellProgram } from "../../base/config/program.ts";
import { ConfigError, NotFoundError } from "../../base/errors.ts";
import { findAnchors, findDocs, findFiles } from "../../mirror/content/search-contents.ts";
import { docSearchReply } from "../../serve/protocol/replies.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { FoundHits } from "../get/render-hits.ts";
import type { SearchFlags, SearchName } from "./plan-search.ts";

interface LocalAnswer {
  found: FoundHits;
  /** What `--json` prints: the shape of the service's reply. A hit of a file names its project by slug. */
  reply: unknown;
}

/**
 * Asks the text index of the mirror (`docs/content.md`). It narrows every search by project and version, as the service
 * does not. Throws ConfigError for flags that do not fit, NotFoundError for an unknown project.
 */
export async function askLocal(
  sql: Sql,
  what: SearchName,
  q: string,
  { project, inVersion: version, page = 1 }: SearchFlags,
): Promise<LocalAnswer> {
  const { reply, found } = await search();
  if (found.hits.length > 0) return { reply, found };
  const [row] = await sql<{ isFilled: boolean }[]>`
    select exists (select from mirror.file_contents where search is not null) as "isFilled"`;
  const isEmpty = spellProgram("the index is empty; `docmirror sync --content` fills it");
  return { reply, found: { ...found, note: row?.isFilled ? found.note : isEmpty } };

  function search(): Promise<LocalAnswer> {
    if (what === "files") return searchFiles(sql, { q, page, project, version });
    if (page !== 1) throw new ConfigError("--page is for files", { hint: "the other searches give 50 hits" });
    if (what === "anchors") return searchAnchors(sql, { q, project, version });
    if (project !== undefined) return searchDocs(sql, { q, project, version: version ?? "latest" });
    throw new ConfigError("the doc search wants a project", {
      hint: "as in: `docmirror search docs install --project pip --local`",
    });
  }
}

async function searchFiles(sql: Sql, query: Parameters<typeof findFiles>[1] & { page: number }) {
  const { total, hits: found } = await findFiles(sql, query);
  const files = await sql<{ id: string; project: string; path: string; absolute_url: string }[]>`
    select file.id, coalesce(project.slug, '') as project, coalesce(file.path, '') as path,
      coalesce(file.absolute_url, '') as absolute_url
    from mirror.files as file left join mirror.projects as project on project.id = file.project_id
    where file.id = any (${found.map(({ fileId }) => fileId)}::text[])`;
  const byId = new Map(files.map((file) => [file.id, file]));
  const objects = found.flatMap(({ fileId, text }) => {
    const file = byId.get(fileId);
    return file === undefined ? [] : [{ ...file, text }];
  });
  const hits = objects.map(({ project, path, absolute_url, text }) => {
    return { cells: [project, path], address: absolute_url, snippets: [text] };
  });
  const isPart = query.page > 1 || total > objects.length;
  const note = isPart ? `${hits.length} of ${countHits(total)} on page ${query.page}` : countHits(total);
  return { reply: { objects }, found: { head: ["project", "path"], hits, note } };
}

async function searchAnchors(sql: Sql, query: Parameters<typeof findAnchors>[1]): Promise<LocalAnswer> {
  const objects = await findAnchors(sql, query);
  const hits = objects.map((address) => ({ cells: [], address, snippets: [] }));
  return { reply: { objects }, found: { head: [], hits, note: countHits(hits.length) } };
}

async function searchDocs(sql: Sql, query: Parameters<typeof findDocs>[1]): Promise<LocalAnswer> {
  const docs = await findDocs(sql, query);
  if (docs === undefined) {
    throw new NotFoundError(`The mirror has no project ${query.project}`, {
      hint: "`docmirror get project` shows what the service has",
    });
  }
  const hits = docs.hits.map(({ title, path, link, content }) => {
    return { cells: [title, path], address: link, snippets: content };
  });
  const of = docs.total > hits.length ? `${hits.length} of ` : "";
  const note = `${of}${countHits(docs.total)}`;
  return { reply: docSearchReply(docs), found: { head: ["title", "path"], hits, note } };
}

function countHits(count: number): string {
  return count === 0 ? "no hits" : `${count.toLocaleString("en-US")} ${count === 1 ? "hit" : "hits"}`;
}
