import { expect, test } from "vitest";
import { momentPiece, type Piece, requestPiece, runPiece } from "../../../src/mirror/builds/piece.ts";

const run = { id: 4, kind: "watch" as const, started_at: "2025-06-02 10:03:00+00" };

test.each<[string, Piece, string]>([
  ["a moment without its zone", momentPiece("2025-06-02 10:03:00.25+00"), "2025-06-02 10:03:00.25"],
  ["a run", runPiece(run), "run 4 (watch, began 2025-06-02 10:03:00)"],
  ["a run that was pruned", runPiece({ id: 4, kind: null, started_at: null }), "run 4 (pruned)"],
  ["a request", requestPiece("/api/v1/build/42/"), "GET /api/v1/build/42/"],
  ["a request that was not stored", requestPiece(null), "the request was not stored"],
])("a piece has the text of %s", (_what, piece, text) => {
  expect(piece).toMatchObject({ text });
});
