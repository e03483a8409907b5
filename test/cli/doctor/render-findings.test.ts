import { describe, expect, test } from "vitest";
import { renderFindings } from "../../../src/cli/doctor/doctor-command.ts";
import { exitCodeOfFindings, type Finding } from "../../../src/cli/doctor/finding.ts";

const FINDINGS: Finding[] = [
  { check: "one", status: "ok", finding: "well" },
  { check: "other", status: "warning", finding: "a b c", repair: "d" },
  { check: "third", status: "fault", finding: "x\u001b[2Jy\nsecond", repair: "do this", exitCode: 6 },
  { check: "fourth", status: "fault", finding: "z", repair: "do that", exitCode: 4 },
  { check: "last", status: "unknown", finding: "not asked" },
];

describe("renderFindings", () => {
  test("aligns them, and makes foreign text safe for a terminal", () => {
    expect(renderFindings(FINDINGS, { colour: false, columns: undefined })).toBe(
      [
        "✓ ok       one     well",
        "! warning  other   a b c",
        "                   → d",
        "✗ fault    third   x␛[2Jy",
        "                   second",
        "                   → do this",
        "✗ fault    fourth  z",
        "                   → do that",
        "? unknown  last    not asked",
        "",
        "2 faults, 1 warning, 1 not tested",
        "",
      ].join("\n"),
    );
  });

  test("breaks lines for a terminal between words, and leaves a narrow one to itself", () => {
    const finding = "some words that are longer than forty columns of text";
    const render = (columns: number) =>
      renderFindings([{ check: "one", status: "ok", finding }], { colour: false, columns });
    expect(render(60)).toBe(
      "✓ ok       one  some words that are longer than forty\n" +
        "                columns of text\n\nno fault\n",
    );
    expect(render(40)).toBe(`✓ ok       one  ${finding}\n\nno fault\n`);
  });

  test("colours the status alone", () => {
    const [line] = renderFindings(FINDINGS, { colour: true, columns: 80 }).split("\n");
    expect(line).toBe("\u001b[32m✓ ok     \u001b[0m  one     well");
  });
});

describe("exitCodeOf", () => {
  test("is that of the first fault, and 0 without one", () => {
    expect(exitCodeOfFindings(FINDINGS)).toBe(6);
    expect(exitCodeOfFindings(FINDINGS.filter(({ status }) => status !== "fault"))).toBe(0);
  });
});
