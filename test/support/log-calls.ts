import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface LogCall {
  /** As in `sync/run.ts:87`. */
  place: string;
  facts: string | null;
  message: string;
}

const SRC = fileURLToPath(new URL("../../src", import.meta.url));
const CALL =
  /(?<![\w$.])(?:\w+\.)*\(?[lL]og(?: \?\? log\))?(?:\.(?:fatal|error|warn|info|debug|trace)|\[[^\]]+\])\(/g;
const STRING = /^"(?:[^"\\]|\\.)*"$/;

/** All calls that write to the log, found in the text of the source: `log.warn(…)`, `deps.log.info(…)`, `log[level](…)`. */
export function findLogCalls(): LogCall[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .flatMap((path) => {
      const source = readFileSync(join(SRC, path), "utf8");
      return [...source.matchAll(CALL)].map((call) => {
        const place = `${path}:${source.slice(0, call.index).split("\n").length}`;
        const [first = "", second] = splitArguments(source, call.index + call[0].length);
        const message = withConstants(second ?? first, source.slice(0, call.index));
        return { place, facts: second === undefined ? null : first, message };
      });
    });
}

/** A message in which the names of constants, which are texts in the source before it, are these texts. */
function withConstants(message: string, before: string): string {
  const constantOf = (name: string) => {
    const after = before.split(`const ${name} =`).at(-1) ?? "";
    return /^\s*("[^"]*"|`[^`]*`);/.exec(after)?.[1] ?? name;
  };
  const value = /^\w+$/.test(message) ? constantOf(message) : message;
  if (!value.startsWith("`")) return value;
  const filled = value.replace(/\$\{(\w+)\}/g, (hole, name: string) => {
    const text = withConstants(name, before);
    return text.startsWith('"') ? text.slice(1, -1) : hole;
  });
  return filled.includes("${") ? value : `"${filled.slice(1, -1)}"`;
}

/** The fixed sentences: what a line may have as `msg`. A message that is chosen from two is both of them. */
export function findSentences(): Set<string> {
  const sentences = findLogCalls().flatMap(({ message }) => sentencesOf(message) ?? []);
  return new Set(sentences);
}

/** The sentences that a message's source stands for; null where it is not fixed. */
export function sentencesOf(message: string): string[] | null {
  const choice = /^[^"`]+ (?:===|!==) "[^"]*"\s*\?\s*("[^"]*")\s*:\s*("[^"]*")$/.exec(message);
  const literals = choice ? choice.slice(1) : [message];
  if (!literals.every((literal) => STRING.test(literal))) return null;
  return literals.map((literal) => JSON.parse(literal) as string);
}

/** The arguments of a call, whose text begins at `from`, behind its bracket. */
function splitArguments(source: string, from: number): string[] {
  const found: string[] = [];
  let depth = 0;
  let begin = from;
  for (let at = from; ; at++) {
    const letter = source[at] ?? ")";
    if (`"'\``.includes(letter)) at = endOfText(source, at);
    else if ("([{".includes(letter)) depth += 1;
    else if (")]}".includes(letter) || (letter === "," && depth === 0)) {
      if (depth === 0) {
        const text = source.slice(begin, at).trim();
        if (text !== "") found.push(text);
        begin = at + 1;
        if (letter !== ",") return found;
      } else depth -= 1;
    }
  }
}

/** Where a quoted text ends. A template ends at its next backtick: none of ours holds another one. */
function endOfText(source: string, from: number): number {
  let at = from + 1;
  while (at < source.length && source[at] !== source[from]) at += source[at] === "\\" ? 2 : 1;
  return at;
}

/** The names of the facts that are written out in a call. Those of spread objects are not among them. */
export function factNamesOf({ facts }: LogCall): string[] {
  if (facts === null || !facts.startsWith("{")) return [];
  return splitArguments(facts, 1)
    .filter((fact) => !fact.startsWith("..."))
    .map((fact) => /^"?(\w+)/.exec(fact)?.[1] ?? fact);
}
