import { describe, expect, test } from "vitest";
import { foreignPiece, momentPiece, type Piece, pieceText } from "../../../src/mirror/builds/piece.ts";

const run = { id: 4, kind: "watch" as const, started_at: "2025-06-02 10:03:00+00" };

describe("pieceText", () => {
  test.each<[string, Piece, string]>([
    ["our own words", "as sent", "as sent"],
    ["foreign text as it is", foreignPiece("pip\u202e"), "pip\u202e"],
    ["a URI", { kind: "uri", text: "/api/v1/project/7/" }, "/api/v1/project/7/"],
    ["a value as JSON", { kind: "value", json: '{"a":1}' }, '{"a":1}'],
    ["a moment without its zone", momentPiece("2025-06-02 10:03:00.25+00"), "2025-06-02 10:03:00.25"],
    ["an interval", { kind: "interval", took: { least_ms: 0, most_ms: 60_000 } }, "up to 1m 0s"],
    ["a length", { kind: "length", ms: 30_000 }, "30.0s"],
    ["a run", { kind: "run", run }, "run 4 (watch, began 2025-06-02 10:03:00)"],
    [
      "a run that was pruned",
      { kind: "run", run: { id: 4, kind: null, started_at: null } },
      "run 4 (pruned)",
    ],
    ["a request", { kind: "request", path: "/api/v1/build/42/" }, "GET /api/v1/build/42/"],
    ["a request that was not stored", { kind: "request", path: null }, "the request was not stored"],
  ])("gives %s", (_what, piece, text) => {
    expect(pieceText(piece)).toBe(text);
  });
});
