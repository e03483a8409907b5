import { resolveSpan } from "../../../report/time-bounds.ts";

/** The query of a URL. Spans in `since` and `until`, such as `7d`, become the moments that they mean now. */
export function readQuery(url: string, now: Date): URLSearchParams {
  const query = new URL(url).searchParams;
  for (const name of ["since", "until"]) {
    const text = query.get(name);
    if (text !== null) query.set(name, resolveSpan(text, now));
  }
  return query;
}

const MOST_LENGTH = 200;

/** A choice as a text, trimmed and cut, without the zero characters that Postgres refuses; an empty one is none. */
export function readText(query: URLSearchParams, name: string): string | undefined {
  return query.get(name)?.replaceAll("\0", "").trim().slice(0, MOST_LENGTH) || undefined;
}
