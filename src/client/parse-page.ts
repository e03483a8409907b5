import type { Reply } from "../base/errors.ts";
import { readEnvelope } from "../resources/envelope.ts";
import { isJsonObject } from "../resources/json-object.ts";
import { type Extra, extraOf } from "./extra.ts";
import { unexpectedShape } from "./unexpected-shape.ts";

/** The place of a page in its list (`docs/interface.md`, "Lists"). What is no whole number from 0 on is null. */
export interface PageMeta {
  /** The size of the page. The service cuts a larger one, usually to 1000. */
  readonly limit: number | null;
  /** How many records come before the page. */
  readonly offset: number | null;
  /** The path of the next page; null at the end of the list. */
  readonly next: string | null;
  readonly previous: string | null;
  /** How many records the list has. Each page has its own count. */
  readonly total_count: number | null;
  readonly extra: Extra;
}

/** The two parts of a page, in the words of the service (`docs/interface.md`, "Lists"). */
export interface PageParts<T> {
  readonly meta: PageMeta;
  readonly objects: readonly T[];
}

/** One page of a list, with the reply that brought it. */
export interface ListPage<T> extends PageParts<T> {
  readonly reply: Reply;
}

const META = ["limit", "offset", "next", "previous", "total_count"];

/** Reads a page. Throws `UnexpectedShapeError` when it has no `meta.next` or no `objects`. */
export function parsePage<T>(value: unknown, url: string, parseObject: (object: unknown) => T): PageParts<T> {
  const envelope = readEnvelope(value);
  if ("fault" in envelope)
    throw unexpectedShape(url, `it is no page of a list ({"meta": …, "objects": […]}): ${envelope.fault}`);
  const { meta, objects } = envelope;
  return {
    meta: {
      limit: wholeNumber(meta.limit),
      offset: wholeNumber(meta.offset),
      next: meta.next,
      previous: typeof meta.previous === "string" ? meta.previous : null,
      total_count: wholeNumber(meta.total_count),
      extra: extraOf(meta, META),
    },
    objects: objects.map(parseObject),
  };
}

/** Reads `{"objects": […]}`, as the searches of v1 answer. Throws `UnexpectedShapeError` for anything else. */
export function parseObjects<T>(value: unknown, url: string, parseObject: (object: unknown) => T): T[] {
  const objects = isJsonObject(value) ? value.objects : undefined;
  if (!Array.isArray(objects)) throw unexpectedShape(url, 'it has no hits ({"objects": […]})');
  return objects.map(parseObject);
}

function wholeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
