import { describe, expect, test } from "vitest";
import { renderFindings } from "../../../src/cli/doctor/doctor-command.ts";
import { checkClock, exitCodeOfFindings, type Finding } from "../../../src/cli/doctor/finding.ts";

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

const DAY_MS = 86_400_000;

describe("checkClock", () => {
  test.each([
    [-1500, 1800, "ok", "its clock agrees with ours to within 1.8 s"],
    [2100, 3100, "warning", "its clock is 2.1 s to 3.1 s ahead of ours: it matters"],
    [-601_000, -600_000, "warning", "its clock is 600.0 s to 601.0 s behind ours: it matters"],
    [-7_201_000, -7_100_000, "warning", "its clock is 1h 58m to 2h 0m behind ours: it matters"],
    [920 * DAY_MS, 920 * DAY_MS + 1000, "warning", "its clock is 920d 0h ahead of ours: it matters"],
  ])("of %i to %i ms says %s: %s", (minMs, maxMs, status, finding) => {
    expect(checkClock("its", { minMs, maxMs }, "it matters")).toMatchObject({ status, finding });
  });
});
