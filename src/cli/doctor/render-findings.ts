import { breakLines } from "../output/break-lines.ts";
import type { Finding } from "./finding.ts";

const MARKS: Record<Finding["status"], [mark: string, colour: string]> = {
  ok: ["✓", "32"],
  warning: ["!", "33"],
  fault: ["✗", "31"],
  unknown: ["?", "2"],
};
/** Where texts would be narrower than this, the terminal breaks the lines. */
const LEAST_TEXT_WIDTH = 30;

/**
 * Renders each finding on one line and its repair on another, aligned; ends with a newline. The status is
 * shown as a word too. Lines are broken to fit `columns`, and not at all without a terminal.
 */
export function renderFindings(
  findings: readonly Finding[],
  { colour, columns }: { colour: boolean; columns: number | undefined },
): string {
  const statusWidth = Math.max(...Object.keys(MARKS).map((status) => status.length));
  const checkWidth = Math.max(...findings.map(({ check }) => check.length));
  const indent = " ".repeat(2 + statusWidth + 2 + checkWidth + 2);
  const lines = findings.flatMap(({ check, status, finding, repair }) => {
    const [mark, code] = MARKS[status];
    const word = `${mark} ${status.padEnd(statusWidth)}`;
    const head = `${colour ? `\u001b[${code}m${word}\u001b[0m` : word}  ${check.padEnd(checkWidth)}  `;
    const text = [
      ...indented(finding, "", indent, columns),
      ...indented(repair ?? "", "→ ", indent, columns),
    ];
    return text.map((line, index) => (index === 0 ? head : indent) + line);
  });
  return `${lines.join("\n")}\n\n${summarize(findings)}\n`;
}

/** The lines of a text, indented to where its first line begins. */
function indented(text: string, start: string, indent: string, columns: number | undefined): string[] {
  if (text === "") return [];
  const width = (columns ?? Infinity) - indent.length - start.length;
  const lines = breakLines(text, width < LEAST_TEXT_WIDTH ? Infinity : width);
  return lines.map((line, index) => (index === 0 ? start : " ".repeat(start.length)) + line);
}

function summarize(findings: readonly Finding[]): string {
  const count = (wanted: Finding["status"]) => findings.filter(({ status }) => status === wanted).length;
  const [faults, warnings, unknowns] = [count("fault"), count("warning"), count("unknown")];
  const parts = [
    faults === 0 ? "no fault" : `${faults} fault${faults === 1 ? "" : "s"}`,
    warnings > 0 && `${warnings} warning${warnings === 1 ? "" : "s"}`,
    unknowns > 0 && `${unknowns} not tested`,
  ];
  return parts.filter(Boolean).join(", ");
}
