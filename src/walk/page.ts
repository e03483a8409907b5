import { UnexpectedShapeError } from "../errors.ts";
import { jsonText } from "../normalize/json-text.ts";
import { Envelope } from "../wire/envelope.ts";
import { recordId } from "../wire/record-id.ts";
import type { Resource } from "../wire/resources.ts";
import { showsItsOrder } from "./list-order.ts";

/** What the envelope of a page says. Numbers that are none, or negative, are null. */
export interface PageMeta {
  limit: number | null;
  offset: number | null;
  next: string | null;
  totalCount: number | null;
  /** What stood in the place of a count that is none, shortened. */
  badTotal?: string;
  /** Records on the page, those without an id too. */
  count: number;
  /** Whether the records show by themselves that the list is sorted (`showsItsOrder`). */
  showsOrder: boolean;
}

/** A record that the service cannot render: of it only the place in the list is known. */
export interface Hole {
  offset: number;
  /** The path and query that was asked for. */
  request: string;
  reason: string;
}

/** One page of a list as the walk hands it on. */
export interface Page {
  resource: Resource;
  /** The place of the page in its walk, from 0. */
  seq: number;
  /** The path and query that was asked for. */
  request: string;
  meta: PageMeta;
  /** The ids on the page in its order; records without one are left out. */
  ids: string[];
  /** Null when the body is the one that is remembered: its records are known to be here already. */
  records: unknown[] | null;
  bodyHash: string;
  bytes: number;
  /** When the request was sent; what the page shows is no older. */
  askedAt: Date;
  /** When the reply was here; what the page shows is no younger. */
  observedAt: Date;
  /** What could not be had between the page before and this one. */
  holes: Hole[];
  /** Whether the page counts: one without an anchor may have a gap before it. */
  isAnchored: boolean;
  /** The request behind this page; null at the end of the walk. */
  following: string | null;
}

/** What is remembered of a page of an earlier walk, or of an earlier part of this one. */
export interface RememberedPage {
  request: string;
  bodyHash: string;
  meta: PageMeta;
  ids: string[];
}

export interface ParsedPage {
  meta: PageMeta;
  ids: string[];
  records: unknown[];
}

/** Takes a reply for a page of a list; throws `UnexpectedShapeError` when it has no `meta` or no `objects`. */
export function parsePage(value: unknown, resource: Resource, url: string): ParsedPage {
  const envelope = Envelope.safeParse(value);
  if (!envelope.success) {
    const [issue] = envelope.error.issues;
    throw new UnexpectedShapeError(
      `${resource} list: GET ${url} should answer with a page ({"meta": …, "objects": […]}), but ${issue?.path.join(".") || "the reply"}: ${issue?.message}`,
      {
        url,
        hint: "nothing was taken from this reply; if it stays so, the service no longer speaks this interface",
      },
    );
  }
  const { meta, objects } = envelope.data;
  const totalCount = count(meta.total_count);
  return {
    meta: {
      limit: count(meta.limit),
      offset: count(meta.offset),
      next: meta.next,
      totalCount,
      ...(totalCount === null && { badTotal: describe(meta.total_count) }),
      count: objects.length,
      showsOrder: showsItsOrder(resource, objects),
    },
    ids: objects.map(recordId).filter((id) => id !== null),
    records: objects,
  };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function describe(value: unknown): string {
  return value === undefined ? "missing" : jsonText(value, 60).toWellFormed();
}
