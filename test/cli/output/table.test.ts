import { describe, expect, it } from "vitest";
import { renderTable } from "../../../src/cli/output/table.ts";

const PLAIN = { colour: false };

describe("renderTable", () => {
  it("aligns columns with spaces alone and leaves none at a line's end", () => {
    const text = renderTable(
      {
        head: ["name", "rows", "note"],
        right: ["rows"],
        rows: [
          ["build", 30_000, "x"],
          ["user", 7, null],
        ],
      },
      PLAIN,
    );
    expect(text).toBe("name    rows  note\nbuild  30000  x\nuser       7\n");
  });

  it("gives wide characters their two columns", () => {
    const text = renderTable(
      {
        head: ["name", "x"],
        rows: [
          ["日本", 1],
          ["abcd", 2],
          ["é", 3],
        ],
      },
      PLAIN,
    );
    expect(text).toBe("name  x\n日本  1\nabcd  2\né     3\n");
  });

  it("keeps hostile names on their line", () => {
    const text = renderTable({ head: ["name"], rows: [["a\n\u001b[31mred"]] }, PLAIN);
    expect(text).toBe("name\na␊␛[31mred\n");
  });

  it("cuts long cells between characters", () => {
    const text = renderTable(
      { head: ["name"], rows: [["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"]], maxCellLength: 3 },
      PLAIN,
    );
    expect(text).toBe("name\n👩‍👩‍👧👩‍👩‍👧…\n");
  });

  it("cuts the widest texts to the terminal's width, and no number, day or moment", () => {
    const facts = {
      head: ["name", "count", "at", "note"],
      right: ["count"],
      rows: [
        ["a-project-of-a-long-name", 12_345_678, "2026-11-03T10:00:00Z", "x".repeat(60)],
        ["b", 1, null, null],
      ],
    };
    expect(renderTable(facts, { columns: 60, colour: false })).toBe(
      `\
name              count  at                    note
a-project-of…  12345678  2026-11-03T10:00:00Z  xxxxxxxxxxxx…
b                     1
`,
    );
    const widths = renderTable(facts, { columns: 60, colour: false })
      .split("\n")
      .map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(60);
    expect(renderTable(facts, PLAIN)).toContain("x".repeat(60));
  });

  it("counts the columns of wide characters when it cuts", () => {
    const text = renderTable(
      { head: ["name"], rows: [["日本語日本語日本語"]] },
      { columns: 10, colour: false },
    );
    expect(text).toBe("name\n日本語日…\n");
  });

  it("leaves columns at the end out where the others would be cut too short, if it may", () => {
    const facts = {
      head: ["name", "version", "error"],
      rows: [["a".repeat(20), "b".repeat(20), "c".repeat(20)]],
    };
    expect(renderTable({ ...facts, mayDrop: true }, { columns: 30, colour: false })).toBe(
      `name            version\n${"a".repeat(13)}…  ${"b".repeat(13)}…\n`,
    );
    expect(renderTable(facts, { columns: 30, colour: false })).toBe(
      `name      version    error\n${"a".repeat(7)}…  ${"b".repeat(8)}…  ${"c".repeat(8)}…\n`,
    );
  });

  it("stays wider than the terminal rather than cut a number", () => {
    const facts = { head: ["a", "b"], right: ["a", "b"], rows: [[123_456_789, 987_654_321]] };
    expect(renderTable(facts, { columns: 12, colour: false })).toBe(
      "        a          b\n123456789  987654321\n",
    );
  });

  it("has a bold head where there are colours", () => {
    const text = renderTable({ head: ["a", "b"], rows: [["xx", "y"]] }, { colour: true });
    expect(text).toBe("\u001b[1ma   b\u001b[22m\nxx  y\n");
  });

  it("shows its head alone when there are no rows", () => {
    expect(renderTable({ head: ["a", "b"], rows: [] }, PLAIN)).toBe("a  b\n");
  });
});
