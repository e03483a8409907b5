import { printable } from "../printable.ts";
import { type Finding, STATUSES } from "./finding.ts";

const MARKS: Record<Finding["status"], [mark: string, colour: string]> = {
  ok: ["✓", "32"],
  warning: ["!", "33"],
  fault: ["✗", "31"],
  unknown: ["?", "2"],
};
/** Narrower than this, lines are left to the terminal. */
const LEAST_TEXT_WIDTH = 30;

/**
 * One line for each finding and one for how to mend it, aligned; ends with a newline. The status stands there as a word too. Lines are
 * broken for a terminal of so many columns, and not at all when there is none.
 */
export function renderFindings(
  findings: readonly Finding[],
  { colour, columns }: { colour: boolean; columns: number | undefined },
): string {
  const statusWidth = Math.max(...STATUSES.map((status) => status.length));
  const checkWidth = Math.max(...findings.map(({ check }) => check.length));
  const indent = " ".repeat(2 + statusWidth + 2 + checkWidth + 2);
  const lines = findings.flatMap(({ check, status, finding, mend }) => {
    const [mark, code] = MARKS[status];
    const word = `${mark} ${status.padEnd(statusWidth)}`;
    const head = `${colour ? `\u001b[${code}m${word}\u001b[0m` : word}  ${check.padEnd(checkWidth)}  `;
    const text = [
      ...breakLines(finding, "", indent, columns),
      ...breakLines(mend ?? "", "→ ", indent, columns),
    ];
    return text.map((line, index) => (index === 0 ? head : indent) + line);
  });
  return `${lines.join("\n")}\n\n${summarize(findings)}\n`;
}

/** The lines of a text, each further one as far to the right as the text begins. */
function breakLines(text: string, start: string, indent: string, columns: number | undefined): string[] {
  if (text === "") return [];
  const width = (columns ?? Infinity) - indent.length - start.length;
  const broken = printable(text, { keepNewlines: true })
    .split("\n")
    .flatMap((line) => (width < LEAST_TEXT_WIDTH ? [line] : wrap(line, width)));
  return broken.map((line, index) => (index === 0 ? start : " ".repeat(start.length)) + line);
}

/** Breaks between words; a word that is longer than a line stands alone. */
function wrap(line: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of line.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function summarize(findings: readonly Finding[]): string {
  const count = (wanted: Finding["status"]) => findings.filter(({ status }) => status === wanted).length;
  const [faults, warnings, unknowns] = [count("fault"), count("warning"), count("unknown")];
  const parts = [
    faults === 0 ? "no fault" : `${faults} fault${faults === 1 ? "" : "s"}`,
    ...(warnings > 0 ? [`${warnings} warning${warnings === 1 ? "" : "s"}`] : []),
    ...(unknowns > 0 ? [`${unknowns} not tested`] : []),
  ];
  return parts.join(", ");
}
