import type { Resource } from "../../resources/resources.ts";
import { Refusal } from "./catalog.ts";

/** 20 a page (`docs/interface.md`, "Lists"). The maximum is not documented; the recorded service has 1000. */
export const DEFAULT_LIMIT = 20;
export const MAX_LIMIT = 1000;

/**
 * Reads `limit` and `offset`. As in the recording, a limit above the maximum is silently reduced and 0 means
 * the maximum. Throws a `Refusal` for a value that is not a number. The recording does not have a negative
 * limit or an invalid offset: their messages are ours, after the same pattern.
 */
export function readPaging(query: URLSearchParams) {
  const limit = readInteger(query, "limit", DEFAULT_LIMIT, "a positive integer");
  if (limit < 0) throw invalid("limit", limit, "a positive integer >= 0");
  const offset = readInteger(query, "offset", 0, "an integer");
  if (offset < 0) throw invalid("offset", offset, "a positive integer >= 0");
  return { limit: limit === 0 || limit > MAX_LIMIT ? MAX_LIMIT : limit, offset };
}

/** The `meta` of a page. `path` is that of the list: a list that was asked for by a slug in its path loses the slug in `next`. */
export function describePage(
  path: string,
  query: URLSearchParams,
  { limit, offset }: ReturnType<typeof readPaging>,
  totalCount: number,
) {
  return {
    limit,
    next: offset + limit < totalCount ? pageAddress(path, query, limit, offset + limit) : null,
    offset,
    previous: offset - limit >= 0 ? pageAddress(path, query, limit, offset - limit) : null,
    total_count: totalCount,
  };
}

function pageAddress(path: string, query: URLSearchParams, limit: number, offset: number): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries({ limit, offset })) {
    next.delete(name);
    next.append(name, String(value));
  }
  return `${path}?${next}`;
}

/** The `page` of the file search, from 1. Throws a `Refusal` for anything else. */
export function readSearchPage(query: URLSearchParams): number {
  const page = readInteger(query, "page", 1, "a positive integer");
  if (page < 1) throw invalid("page", page, "a positive integer");
  return page;
}

function readInteger(query: URLSearchParams, name: string, fallback: number, wanted: string): number {
  // When a parameter is given twice, the last one counts, here and in the filters.
  const given = query.getAll(name).at(-1);
  if (given === undefined) return fallback;
  if (!/^\s*[+-]?\d+\s*$/.test(given)) throw invalid(name, given, wanted);
  return Math.min(Number(given), Number.MAX_SAFE_INTEGER - MAX_LIMIT);
}

function invalid(name: string, given: string | number, wanted: string): Refusal {
  return new Refusal(`Invalid ${name} '${given}' provided. Please provide ${wanted}.`);
}

/** From so many bytes on, a page takes long enough that small replies should not wait for it. */
const LARGE_BYTES = 128 * 1024;
/** Before the first page was made. */
const USUAL_RECORD_BYTES = 2000;
/** The share of the newest page in what is expected of the next one. */
const NEWEST_SHARE = 0.2;

/** The cost of pages: their bytes, as those before have shown. */
export function createPageSizes() {
  const recordBytes = new Map<Resource, number>();
  const expected = (resource: Resource) => recordBytes.get(resource) ?? USUAL_RECORD_BYTES;

  return {
    isLarge: (resource: Resource, limit: number) => limit * expected(resource) >= LARGE_BYTES,
    note(resource: Resource, records: number, bytes: number): void {
      if (records === 0) return;
      const before = expected(resource);
      recordBytes.set(resource, before + (bytes / records - before) * NEWEST_SHARE);
    },
  };
}
