import { type PageRequest, parsePageRequest } from "./page-request.ts";

/** Messages show a `next` up to this length. */
const SHOWN_LENGTH = 200;

/** Where the `next` of a page leads. */
export interface NextLink {
  /**
   * `nowhere`: it is null, the list ends here. `unclear`: it names no page by limit and offset. `elsewhere`:
   * it leaves the list. `back`: to this page or an earlier one. `on`: forward in this list.
   */
  leads: "nowhere" | "unclear" | "elsewhere" | "back" | "on";
  /** The link as it came, shortened and in quotes. */
  text: string;
  limit: number;
  offset: number;
}

/** Reads the `next` of the page at `at`. */
export function readNext(
  next: string | null,
  at: PageRequest,
  isListPath: (path: string) => boolean,
): NextLink {
  if (next === null) return { leads: "nowhere", text: "null", limit: 0, offset: 0 };
  const text = `'${next.slice(0, SHOWN_LENGTH)}'`;
  const named = parsePageRequest(next);
  if (!named) return { leads: "unclear", text, limit: 0, offset: 0 };
  const { limit, offset } = named;
  if (!isListPath(named.path)) return { leads: "elsewhere", text, limit, offset };
  return { leads: offset > at.offset ? "on" : "back", text, limit, offset };
}
