import { describe, expect, it } from "vitest";
import { FORMATS, type Format, printAnswer } from "../../../src/cli/output/answer-writer.ts";
import type { AnswerRow } from "../../../src/report/read-answer.ts";

async function print(
  format: Format,
  rows: readonly AnswerRow[],
  isTty = false,
  answer?: readonly string[],
): Promise<string> {
  const written: string[] = [];
  const out = {
    isTty,
    colour: false,
    columns: isTty ? 80 : undefined,
    write: async (text: string) => void written.push(text),
    json: async () => {},
  };
  const wanted = { format, columns: ["name", "rate"], facts: { report: "x" }, ...(answer && { answer }) };
  await printAnswer([rows.slice(0, 1), rows.slice(1)], wanted, out);
  return written.join("");
}

const EVIL = "<b>|`\u001b[2J\u202e\n*";

describe("printAnswer", () => {
  it("aligns a table over all batches; null is nothing, and what eyes do not need is left out", async () => {
    const rows = [
      ["a", 2 / 3],
      ["much longer", 12],
      ["2026-11-03T10:00:00.123456Z", 0.00000123456],
      ["b", null],
    ];
    expect(await print("table", rows)).toBe(
      `\
name                        rate
a                         0.6667
much longer                   12
2026-11-03T10:00:00Z  0.00000123
b
`,
    );
  });

  it("shows on a terminal the columns that answer the question, in their order, and to a file all", async () => {
    const rows = [
      ["a", 0.5],
      ["b", 1234.5678],
    ];
    expect(await print("table", rows, true, ["rate", "name"])).toBe("  rate  name\n   0.5  a\n1234.6  b\n");
    expect(await print("table", rows, false, ["rate"])).toContain("name    rate\n");
    for (const format of ["csv", "json", "md"] as const) {
      expect(await print(format, rows, true, ["rate"])).toContain("name");
    }
  });

  it("writes one JSON document, a row a line, also without rows", async () => {
    const text = await print("json", [
      ["a", 2 / 3],
      [null, 1],
    ]);
    expect(JSON.parse(text)).toEqual({
      report: "x",
      columns: ["name", "rate"],
      rows: [
        { name: "a", rate: 2 / 3 },
        { name: null, rate: 1 },
      ],
    });
    expect(text).toContain('\n    {"name":null,"rate":1}\n');
    expect(JSON.parse(await print("json", []))).toMatchObject({ rows: [] });
  });

  it("writes CSV with a header, byte by byte to a file", async () => {
    const rows = [
      [EVIL, null],
      ["=1", -1],
    ];
    expect(await print("csv", rows)).toBe(`name,rate\r\n"${EVIL}",\r\n'=1,-1\r\n`);
  });

  it("keeps each row of CSV on a line of its own on a terminal", async () => {
    expect(await print("csv", [[EVIL, null]], true)).toBe("name,rate\n<b>|`␛[2J\ufffd␊*,\n");
  });

  it("escapes in Markdown what would be markup or end a cell", async () => {
    const rows = [
      [EVIL, 0.5],
      ["my_project", null],
    ];
    expect(await print("md", rows)).toBe(
      "| name | rate |\n| --- | --- |\n| \\<b\\>\\|\\`␛\\[2J\ufffd␊\\* | 0.5 |\n| my_project |  |\n",
    );
  });

  it("keeps names with underscores as they are in Markdown", async () => {
    const names = ["__init__", "_private", "a_b", "a__b", "end_", "_", "größe_ß", "$x$"];
    const shown = [
      "\\_\\_init\\_\\_",
      "\\_private",
      "a_b",
      "a\\_\\_b",
      "end\\_",
      "\\_",
      "größe_ß",
      "\\$x\\$",
    ];
    const text = await print(
      "md",
      names.map((name) => [name, null]),
    );
    expect(text.trimEnd().split("\n").slice(2)).toEqual(shown.map((name) => `| ${name} |  |`));
  });

  it.each(FORMATS)("gives a terminal nothing that it would obey, as %s", async (format) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
    const obeyed = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
    expect(await print(format, [[EVIL, 1]], true)).not.toMatch(obeyed);
  });
});
