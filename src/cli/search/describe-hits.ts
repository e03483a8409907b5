import type { DocHits } from "../../client/parse-doc-hits.ts";
import type { FileHit } from "../../client/records.ts";
import { showValue } from "../get/show-value.ts";
import type { FoundHits } from "./render-hits.ts";

/** The file search gives 20 hits a page, and does not say whether there are more. */
const FILE_PAGE = 20;

export interface FileSearchChoice {
  /** The page of hits, from 1. */
  page: number;
  /** Shows only the hits of this project, by slug or id. The service itself cannot narrow the search. */
  project: string | undefined;
}

/** The hits of the file search (`docs/interface.md`, "Searches"), as rows. */
export function describeFileHits(hits: readonly FileHit[], { page, project }: FileSearchChoice): FoundHits {
  const shown = project === undefined ? hits : hits.filter((hit) => isOf(hit, project));
  const more = hits.length >= FILE_PAGE ? `; there may be more: --page ${page + 1}` : "";
  const count = countHits(hits.length);
  const note =
    project === undefined
      ? `${count}${page > 1 ? ` on page ${page}` : ""}${more}`
      : `${shown.length} of ${count} on page ${page} ${shown.length === 1 ? "is" : "are"} in ${project}; the service searches all projects${more}`;
  return {
    head: ["project", "path"],
    hits: shown.map((hit) => ({
      cells: [showValue(hit.project), showValue(hit.path)],
      address: showValue(hit.absolute_url),
      snippets: [showValue(hit.text)],
    })),
    note,
  };
}

/** The hits of the anchor search, as addresses. They are shown as they came. */
export function describeAnchorHits(addresses: readonly unknown[]): FoundHits {
  return {
    head: [],
    hits: addresses.map((address) => ({ cells: [], address: showValue(address), snippets: [] })),
    note: countHits(addresses.length),
  };
}

/** The hits of the doc search, as rows. */
export function describeDocHits({ total, hits }: DocHits): FoundHits {
  const isAll = total === null || total <= hits.length;
  return {
    head: ["title", "path"],
    hits: hits.map(({ fields, highlight }) => ({
      cells: [showValue(fields.title), showValue(fields.path)],
      address: showValue(fields.link),
      snippets: highlight.content,
    })),
    note: isAll ? countHits(hits.length) : `${hits.length} of ${total} hits`,
  };
}

function isOf({ project }: FileHit, wanted: string): boolean {
  return (
    typeof project === "object" && project !== null && (project.slug === wanted || project.id === wanted)
  );
}

function countHits(count: number): string {
  return count === 0 ? "no hits" : `${count} ${count === 1 ? "hit" : "hits"}`;
}
