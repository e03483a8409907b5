import { spellProgram } from "../../base/config/program.ts";
import { ConfigError, NotFoundError } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import { anchorSearchPath, docSearchPath, fileSearchPath } from "../../client/endpoint-path.ts";
import { parseObjects } from "../../client/list-pages.ts";
import { type FileHit, parseFileHit } from "../../client/parse-record.ts";
import { parseDocHits } from "../../client/parse-replies.ts";
import { findAnchors, findDocs, findFiles } from "../../mirror/content/search-contents.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import type { Resource } from "../../resources/resources.ts";
import { docSearchReply } from "../../serve/protocol/replies.ts";
import { oneRow, type Sql, statement } from "../../store/connection/sql.ts";
import type { Look } from "../output/output.ts";
import { type FoundHits, renderHits } from "./render-hits.ts";
import { showValue } from "./render-reply.ts";

const FOUND_FILES = statement<{ id: string; project: string; path: string; absolute_url: string }>(
  "found_files",
  import.meta.url,
);

/** The flags of `get --search`. */
export interface SearchFlags {
  search?: string;
  anchors?: true;
  /** A project's slug. */
  project?: string;
  /** A version's slug. */
  inVersion?: string;
  page?: number;
  /** Ask the mirror instead of the service. */
  local?: true;
  json?: true;
}

/** A search of files, of anchors, or of the documents of a project. */
export type Search =
  | { what: "files" | "anchors"; q: string; project: string | undefined }
  | { what: "docs"; q: string; project: string };

/** The search that the command line asks for, null without one. Throws ConfigError for flags that do not fit. */
export function readSearch(
  resource: Resource | undefined,
  key: string | undefined,
  flags: SearchFlags,
): Search | null {
  const { search, anchors, project } = flags;
  if (search === undefined) {
    for (const flag of ["anchors", "project", "inVersion", "page", "local"] as const)
      refuse(flags, flag, `--${flag === "inVersion" ? "in-version" : flag} goes with --search`);
    return null;
  }
  const q = search.trim();
  if (q === "") throw new ConfigError("the query is empty", { hint: "give the words to search for" });
  if (resource === "file" && key === undefined) return { what: anchors ? "anchors" : "files", q, project };
  if (resource !== "project" || key === undefined) {
    throw new ConfigError("--search is for file, or for one project", {
      hint: "as in: `docmirror get file --search install` or `docmirror get project pip --search install`",
    });
  }
  refuse(flags, "anchors", "--anchors is for file: the service searches the anchors of all projects");
  refuse(flags, "project", "--project is for file: this search names its project already");
  return { what: "docs", q, project: key };
}

/** Plans a search by the service. Throws ConfigError for a flag that the service would ignore. */
export function planSearch({ what, q, project }: Search, flags: SearchFlags) {
  const { inVersion: version, page = 1, json } = flags;
  const missing = {
    message:
      what === "docs"
        ? `The service has no project ${project}, or no doc search`
        : "The service has no such search, or no such page of it",
    hint: "`docmirror get` shows what it has",
  };
  const planned = (path: string, describe: (value: unknown, url: string) => FoundHits) => ({
    path,
    missing,
    render: (value: unknown, url: string, look: Look) => renderHits(describe(value, url), look),
  });
  if (what === "docs") {
    refuse(flags, "page", "--page is for files: the doc search gives its best hits at once");
    const path = docSearchPath({ project, version, q });
    return planned(path, (value, url) => describeDocHits(parseDocHits(value, url)));
  }
  refuse(flags, "inVersion", "--in-version is for a search in one project: this one searches all versions");
  if (what === "anchors") {
    refuse(flags, "page", "--page is for files: the service answers a search for anchors at once");
    refuse(flags, "project", "--project is not for anchors: the service gives addresses alone");
    return planned(anchorSearchPath(q), (value, url) =>
      describeAnchorHits(parseObjects(value, url, (address) => address)),
    );
  }
  if (project !== undefined && json) {
    throw new ConfigError("--json prints the reply as it came, which --project cannot narrow", {
      hint: "leave one of them out: the service searches the files of all projects",
    });
  }
  return planned(fileSearchPath(q, flags.page), (value, url) => {
    const hits = parseObjects(value, url, (hit) => parseFileHit(hit, { url, allowOddFields: true }));
    return describeFileHits(hits, page, project);
  });
}

function refuse(flags: SearchFlags, flag: keyof SearchFlags, message: string): void {
  if (flags[flag] === undefined) return;
  throw new ConfigError(message, { hint: "`docmirror get --help` shows which flag is for which search" });
}

/** The file search gives 20 hits a page, and does not say whether there are more. */
const FILE_PAGE = 20;

/**
 * The hits of the file search (`docs/interface.md`, "Searches"), as rows. `page` counts from 1. With a `project`, a slug or
 * an id, only its hits are shown: the service itself cannot narrow the search.
 */
export function describeFileHits(
  hits: readonly FileHit[],
  page: number,
  project: string | undefined,
): FoundHits {
  // A field of an odd type is shown as it came.
  const found = hits.map((hit) => ({ ...hit.extra, ...hit }));
  const shown = project === undefined ? found : found.filter((hit) => isOf(hit.project, project));
  const more = hits.length >= FILE_PAGE ? `; there may be more: --page ${page + 1}` : "";
  const count = countHits(hits.length);
  const note =
    project === undefined
      ? `${count}${page > 1 ? ` on page ${page}` : ""}${more}`
      : `${shown.length} of ${count} on page ${page} ${shown.length === 1 ? "is" : "are"} in ${project}; the service searches all projects${more}`;
  return { ...describeFiles(shown), note };
}

const describeFiles = (
  files: readonly Partial<Record<"project" | "path" | "absolute_url" | "text", unknown>>[],
) => ({
  head: ["project", "path"],
  hits: files.map(({ project, path, absolute_url, text }) => {
    const cells = [showValue(project), showValue(path)];
    return { cells, address: showValue(absolute_url), snippets: [showValue(text)] };
  }),
});

/** The hits of the anchor search, as addresses. They are shown as they came. */
export function describeAnchorHits(addresses: readonly unknown[]): FoundHits {
  const hits = addresses.map((address) => ({ cells: [], address: showValue(address), snippets: [] }));
  return { head: [], hits, note: countHits(hits.length) };
}

/** What is shown of the hits of a doc search, of the service or of the mirror. */
interface ShownDocs {
  total: number | null;
  hits: readonly {
    fields: { title?: unknown; path?: unknown; link?: unknown };
    highlight: { content: readonly string[] };
  }[];
}

/** The hits of the doc search, as rows. */
export function describeDocHits({ total, hits }: ShownDocs): FoundHits {
  const isAll = total === null || total <= hits.length;
  return {
    head: ["title", "path"],
    hits: hits.map(({ fields, highlight }) => {
      const cells = [showValue(fields.title), showValue(fields.path)];
      return { cells, address: showValue(fields.link), snippets: highlight.content };
    }),
    note: isAll ? countHits(hits.length) : `${hits.length} of ${countHits(total)}`,
  };
}

function isOf(project: unknown, wanted: string): boolean {
  return isJsonObject(project) && (project.slug === wanted || project.id === wanted);
}

interface LocalAnswer {
  found: FoundHits;
  /** The document of `--json`: the shape of the service's reply. A hit of a file names its project by slug. */
  reply: unknown;
}

/**
 * Asks the text index of the mirror (`docs/content.md`). It narrows every search by project and version, as the service
 * does not. Throws ConfigError for flags that do not fit, NotFoundError for an unknown project.
 */
export async function askLocal(sql: Sql, search: Search, flags: SearchFlags): Promise<LocalAnswer> {
  const { reply, found } = await askIndex(sql, search, flags);
  if (found.hits.length > 0) return { reply, found };
  const { isFilled } = await oneRow(
    sql<{ isFilled: boolean }[]>`
      select exists (select from mirror.file_contents where search is not null) as "isFilled"`,
  );
  const isEmpty = spellProgram("the index is empty; `docmirror sync --content` fills it");
  return { reply, found: { ...found, note: isFilled ? found.note : isEmpty } };
}

async function askIndex(sql: Sql, search: Search, { inVersion: version, page = 1 }: SearchFlags) {
  const { q, project } = search;
  if (search.what === "files") return searchFiles(sql, { q, page, project, version });
  if (page !== 1) throw new ConfigError("--page is for files", { hint: "the other searches give 50 hits" });
  if (search.what === "docs")
    return searchDocs(sql, { q, project: search.project, version: version ?? "latest" });
  return searchAnchors(sql, { q, project, version });
}

async function searchFiles(sql: Sql, query: Parameters<typeof findFiles>[1] & { page: number }) {
  const { total, hits: found } = await findFiles(sql, query);
  const files = await FOUND_FILES(sql, { ids: found.map(({ fileId }) => fileId) });
  const byId = new Map(files.map((file) => [file.id, file]));
  const objects = found.flatMap(({ fileId, text }) => {
    const file = byId.get(fileId);
    return file === undefined ? [] : [{ ...file, text }];
  });
  const isPart = query.page > 1 || total > objects.length;
  const note = isPart ? `${objects.length} of ${countHits(total)} on page ${query.page}` : countHits(total);
  return { reply: { objects }, found: { ...describeFiles(objects), note } };
}

async function searchAnchors(sql: Sql, query: Parameters<typeof findAnchors>[1]): Promise<LocalAnswer> {
  const objects = await findAnchors(sql, query);
  return { reply: { objects }, found: describeAnchorHits(objects) };
}

async function searchDocs(sql: Sql, query: Parameters<typeof findDocs>[1]): Promise<LocalAnswer> {
  const docs = await findDocs(sql, query);
  if (docs === undefined) {
    throw new NotFoundError(`The mirror has no project ${query.project}`, {
      hint: "`docmirror get project` shows what the service has",
    });
  }
  const hits = docs.hits.map(({ content, ...fields }) => ({ fields, highlight: { content } }));
  return { reply: docSearchReply(docs), found: describeDocHits({ total: docs.total, hits }) };
}

function countHits(count: number): string {
  return count === 0 ? "no hits" : counted(count, "hit");
}
