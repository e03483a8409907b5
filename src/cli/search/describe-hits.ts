import type { FileHit } from "../../client/parse-record.ts";
import type { DocHits } from "../../client/parse-replies.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { showValue } from "../get/render-reply.ts";
import type { FoundHits } from "../get/render-hits.ts";

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
  return {
    head: ["project", "path"],
    hits: shown.map(({ project, path, absolute_url, text }) => {
      const cells = [showValue(project), showValue(path)];
      return { cells, address: showValue(absolute_url), snippets: [showValue(text)] };
    }),
    note,
  };
}

/** The hits of the anchor search, as addresses. They are shown as they came. */
export function describeAnchorHits(addresses: readonly unknown[]): FoundHits {
  const hits = addresses.map((address) => ({ cells: [], address: showValue(address), snippets: [] }));
  return { head: [], hits, note: countHits(hits.length) };
}

/** The hits of the doc search, as rows. */
export function describeDocHits({ total, hits }: DocHits): FoundHits {
  const isAll = total === null || total <= hits.length;
  return {
    head: ["title", "path"],
    hits: hits.map(({ fields, highlight }) => {
      const cells = [showValue(fields.title), showValue(fields.path)];
      return { cells, address: showValue(fields.link), snippets: highlight.content };
    }),
    note: isAll ? countHits(hits.length) : `${hits.length} of ${total} hits`,
  };
}

function isOf(project: unknown, wanted: string): boolean {
  return isJsonObject(project) && (project.slug === wanted || project.id === wanted);
}

function countHits(count: number): string {
  return count === 0 ? "no hits" : `${count} ${count === 1 ? "hit" : "hits"}`;
}
