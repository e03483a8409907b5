/** The story of a build as lines of pieces, each with what it is: a terminal and a page only dress them. */
import type { ExplainedSighting } from "./explain-build.ts";
import { formatTime } from "./format-span.ts";

/** A plain string is our own text; all others may contain anything that users typed, and are not cut. */
export type Piece =
  | string
  | { kind: "foreign" | "uri" | "value" | "moment" | "run" | "request"; text: string };

export type Line = readonly Piece[];

/** A label with one line or more: first the answer, then the reason and the source. */
export interface Entry {
  label: string;
  lines: readonly Line[];
}

export interface Section {
  title: string;
  entries: readonly Entry[];
}

export const foreignPiece = (text: string): Piece => ({ kind: "foreign", text });
export const momentPiece = (at: string): Piece => ({ kind: "moment", text: formatTime(at) });

export function runPiece({ id, kind, started_at }: ExplainedSighting["run"]): Piece {
  const began = started_at === null ? "" : `, began ${formatTime(started_at)}`;
  return { kind: "run", text: `run ${id} (${kind ?? "pruned"}${began})` };
}

export const requestPiece = (path: string | null): Piece => ({
  kind: "request",
  text: path === null ? "the request was not stored" : `GET ${path}`,
});
