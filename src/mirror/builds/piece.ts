/** The text about a build as lines of pieces with a kind, so that a terminal and a page each show their own. */
import type { ExplainedSighting } from "./explain-build.ts";
import { type BoundedSpan, formatBetween, formatSpan, formatTime } from "./format-span.ts";

/** A plain string is our own text. All other texts may contain anything that users typed. */
export type Piece =
  | string
  | { kind: "foreign"; text: string }
  | { kind: "uri"; text: string }
  /** A field's value as JSON, which may be long. */
  | { kind: "value"; json: string }
  /** A moment as Postgres prints it, in UTC. */
  | { kind: "moment"; at: string }
  /** A span, as far as it is known. */
  | { kind: "interval"; took: BoundedSpan }
  | { kind: "length"; ms: number }
  /** The run that received a reply. */
  | { kind: "run"; run: ExplainedSighting["run"] }
  /** Path and query; null when they were not stored. */
  | { kind: "request"; path: string | null };

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
export const momentPiece = (at: string): Piece => ({ kind: "moment", at });

/** A piece as plain text, not cut. Foreign text is not made printable. */
export function pieceText(piece: Piece): string {
  if (typeof piece === "string") return piece;
  switch (piece.kind) {
    case "foreign":
    case "uri":
      return piece.text;
    case "value":
      return piece.json;
    case "moment":
      return formatTime(piece.at);
    case "interval":
      return formatBetween(piece.took);
    case "length":
      return formatSpan(piece.ms);
    case "run":
      return runText(piece.run);
    case "request":
      return piece.path === null ? "the request was not stored" : `GET ${piece.path}`;
  }
}

function runText({ id, kind, started_at }: ExplainedSighting["run"]): string {
  const began = started_at === null ? "" : `, began ${formatTime(started_at)}`;
  return `run ${id} (${kind ?? "pruned"}${began})`;
}
