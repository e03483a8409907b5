/** What is shown elsewhere in a line, or in front of its sentence. */
const SHOWN = new Set(["level", "time", "msg", "run_id", "resource"]);

/**
 * A line of the log for people, after its time and level: the run and the list in front of the sentence, short
 * facts behind it, and each longer one on a line of its own, as it is, so that a command can be copied.
 */
export function prettyMessage(line: Record<string, unknown>): string {
  const run = line.run_id === undefined ? [] : [`run ${line.run_id}`];
  const list = line.resource === undefined ? [] : [String(line.resource)];
  const about = [...run, ...list].join(" ");
  const short: string[] = [];
  const long: string[] = [];
  for (const [name, value] of Object.entries(line)) {
    if (SHOWN.has(name) || value === undefined) continue;
    const text = textOf(value);
    if (/[\s"{[]/.test(text)) long.push(`\n    ${name}: ${text}`);
    else short.push(` ${name}=${text}`);
  }
  return `${about && `${about}: `}${String(line.msg ?? "")}${short.join("")}${long.join("")}`;
}

/** Foreign text must not look like a line of its own. The lines of a stack are indented. */
function textOf(value: unknown): string {
  if (isError(value)) return value.stack.replaceAll("\n", "\n      ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}

function isError(value: unknown): value is { stack: string } {
  return typeof value === "object" && value !== null && "stack" in value && typeof value.stack === "string";
}
