import { Argument, InvalidArgumentError } from "commander";
import { ConfigError, NotFoundError } from "../base/errors.ts";
import {
  type BuildDescription,
  describeBuild,
  type Entry,
  type Newest,
  type Piece,
} from "../mirror/builds/describe-build.ts";
import { type BuildExplanation, explainBuild } from "../mirror/builds/explain-build.ts";
import { isStorableId } from "../resources/record-id.ts";
import type { Resource } from "../resources/resources.ts";
import type { Sql } from "../store/connection/sql.ts";
import { withMirror } from "./context/with-mirror.ts";
import { breakLines, styled, textColumns } from "./output/output.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parseResource } from "./usage/flag-values.ts";

/** So many states, changes and refused replies are shown, the newest ones; `--json` has all. */
const MOST_SHOWN = 20;

export const command: CommandDeclaration = {
  settings: ["database", "sourceTimezone"],
  exits: ["notFound"],
  examples: [
    ["explain build 4711", "what was seen of build 4711, when, and how its times are known"],
    ["explain build 4711 --json", "the same, complete, as JSON"],
  ],
  words: { resource: ["build"] },
  hasJson: true,
  flags: (command) =>
    command
      .addArgument(new Argument("<resource>", "what to explain: build").argParser(parseExplained))
      .addArgument(new Argument("<id>", "the record's id, as the service gives it").argParser(parseId)),
  run: (context, { args: [, id = ""] }) => {
    const explain = async (sql: Sql) => {
      const { config, out } = context;
      const explanation = await explainBuild(sql, id, config.sourceTimezone);
      const { build, quarantine } = explanation;
      await context.print(explanation, () => {
        if (build === null) return "";
        const look = { colour: out.colour, columns: textColumns(out) };
        return renderBuild(id, describeBuild(build, quarantine, MOST_SHOWN), look);
      });
      if (build === null) throw notHere(id, explanation);
      return 0;
    };
    return withMirror(context, explain, "reads");
  },
};

function parseExplained(text: string): Resource {
  const resource = parseResource(text);
  if (resource === "build") return resource;
  throw new ConfigError(`Only a build can be explained, not a ${resource}`, {
    hint: "as in: `docmirror explain build 4711`",
  });
}

/** Refuses an id that no record can have, such as the empty text of a variable that is not set. */
function parseId(text: string): string {
  if (isStorableId(text)) return text;
  throw new InvalidArgumentError("No record has such an id: it is empty, or far too long.");
}

function notHere(id: string, { quarantine }: BuildExplanation): NotFoundError {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) {
    return new NotFoundError(`the mirror has no build ${id}`, {
      hint: `check whether the service has it: \`docmirror get build ${JSON.stringify(id)}\``,
    });
  }
  const message = `the mirror has no build ${id}: it was received, but could not be stored: ${last.reason}`;
  const hint = "`docmirror quarantine --resource build` shows what was sent, and --retry tries it again";
  return new NotFoundError(message, { hint });
}

/** The column where texts begin. */
const INDENT = 13;
/** Texts are at least this wide. */
const LEAST_TEXT_WIDTH = 40;
const MAX_VALUE_LENGTH = 60;

/** Renders what is known about a build for a terminal; ends with a newline. Times are in UTC. */
function renderBuild(
  id: string,
  { state, facts, states, changes, quarantine }: BuildDescription,
  look: { colour: boolean; columns: number },
): string {
  const section = (title: string, entries: readonly Entry[]) => {
    const heading = breakLines(title, look.columns).map((line) => styled("bold", line, look));
    return `${heading.join("\n")}\n${entries.map((entry) => renderEntry(entry, look.columns)).join("")}`;
  };
  const list = (name: string, { shown, left }: Newest<Entry>) => {
    const note = left === 0 ? [] : [{ label: "", lines: [[leftWords(left, name)]] }];
    return shown.length === 0 ? [] : [section(`${name} (${left + shown.length})`, [...note, ...shown])];
  };
  return [
    section(`build ${id}: ${state} (times in UTC)`, facts),
    ...(states.left === 0 ? [] : [`${leftWords(states.left, "transitions")}\n`]),
    ...states.shown.map(({ title, entries }) => section(title, entries)),
    ...list("changes", changes),
    ...list("quarantine", quarantine),
  ].join("\n");
}

function renderEntry({ label, lines }: Entry, columns: number): string {
  const text = lines.map((line) => line.map(shortText).join("")).join("\n");
  return breakLines(text, Math.max(LEAST_TEXT_WIDTH, columns - INDENT))
    .map((line, index) => `${(index === 0 ? `  ${label}` : "").padEnd(INDENT - 1)} ${line}\n`)
    .join("");
}

function shortText(piece: Piece): string {
  if (typeof piece === "string") return piece;
  const { kind, text } = piece;
  const isLong = kind === "value" && text.length > MAX_VALUE_LENGTH;
  return isLong ? `${text.slice(0, MAX_VALUE_LENGTH).toWellFormed()}…` : text;
}

const leftWords = (left: number, name: string) => `${left} earlier ${name} are left out; --json has all`;
