import { describe, expect, it } from "vitest";
import { renderTable } from "../../src/cli/table.ts";

describe("renderTable", () => {
  it("aligns columns with spaces alone and leaves none at a line's end", () => {
    const text = renderTable({
      head: ["name", "rows", "note"],
      right: ["rows"],
      rows: [
        ["build", 30_000, "x"],
        ["user", 7, null],
      ],
      colour: false,
    });
    expect(text).toBe("name    rows  note\nbuild  30000  x\nuser       7\n");
  });

  it("gives wide characters their two columns", () => {
    const text = renderTable({
      head: ["name", "x"],
      rows: [
        ["日本", 1],
        ["abcd", 2],
        ["é", 3],
      ],
      colour: false,
    });
    expect(text).toBe("name  x\n日本  1\nabcd  2\né     3\n");
  });

  it("keeps hostile names on their line", () => {
    const text = renderTable({ head: ["name"], rows: [["a\n\u001b[31mred"]], colour: false });
    expect(text).toBe("name\na␊␛[31mred\n");
  });

  it("cuts long cells between characters", () => {
    const text = renderTable({
      head: ["name"],
      rows: [["👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧"]],
      maxCellLength: 3,
      colour: false,
    });
    expect(text).toBe("name\n👩‍👩‍👧👩‍👩‍👧…\n");
  });

  it("shows its head alone when there are no rows", () => {
    expect(renderTable({ head: ["a", "b"], rows: [], colour: false })).toBe("a  b\n");
  });
});
