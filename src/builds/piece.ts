/**
 * Words about a build as plain data: lines of pieces, each with what it is, so that a terminal and a page
 * show the same ones in their own way.
 */
import type { BuildSighting, Span } from "./explain-build.ts";
import { formatBetween, formatSpan, formatTime } from "./format-span.ts";

/** A bare string is our own words. All other texts may hold whatever users typed. */
export type Piece =
  | string
  | { kind: "foreign"; text: string }
  | { kind: "uri"; text: string }
  /** A field's value as JSON, which may be long. */
  | { kind: "value"; json: string }
  /** A moment as Postgres prints it, in UTC. */
  | { kind: "moment"; at: string }
  /** What a time took, as far as that is known. */
  | { kind: "interval"; took: Span }
  | { kind: "length"; ms: number }
  /** The run that a reply came to. */
  | { kind: "run"; run: BuildSighting["run"] }
  /** Path and query; null where they were not kept. */
  | { kind: "request"; path: string | null };

export type Line = readonly Piece[];

/** A label and its lines, at least one: the answer, then why it is so and how it is known. */
export interface Entry {
  label: string;
  lines: readonly Line[];
}

export interface Section {
  title: string;
  entries: readonly Entry[];
}

export const foreign = (text: string): Piece => ({ kind: "foreign", text });
export const moment = (at: string): Piece => ({ kind: "moment", at });

/** A piece as plain text, as long as it is. Foreign text is not made printable. */
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
      return piece.path === null ? "the request was not kept" : `GET ${piece.path}`;
  }
}

function runText({ id, kind, started_at }: BuildSighting["run"]): string {
  const began = started_at === null ? "" : `, began ${formatTime(started_at)}`;
  return `run ${id} (${kind ?? "pruned since"}${began})`;
}
