import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { runCli } from "../../support/cli.ts";
import { useFolder } from "../../support/folder.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const NAMES = COMMANDS.map(({ name }) => name);
const has = (shell: Shell) => spawnSync(shell, ["--version"]).status === 0;

/** What is typed, without the program's name, and all that may follow at its end. */
const CASES: readonly (readonly [typed: string, offered: readonly string[]])[] = [
  ["", [...NAMES, "help"]],
  ["rep", ["report"]],
  ["sync --resou", ["--resource"]],
  ["export --format ", ["parquet", "csv"]],
  ["report --format ", ["table", "csv", "json", "md"]],
  ["report failing_", Object.keys(DICTIONARY).filter((name) => name.startsWith("failing_"))],
  ["report --project pip failing_n", ["failing_now"]],
  ["get ", RESOURCES],
  ["explain ", ["build"]],
  ["quarantine --resource ", RESOURCES],
  ["sync --webhook-format ", ["standard", "slack", "teams"]],
  ["sync --content o", ["on", "off"]],
  ["sync --log-format ", ["auto", "pretty", "json"]],
  ["sync --log-level ", ["fatal", "error", "warn", "info", "debug", "trace", "silent"]],
  ["completion ", SHELLS],
  ["sync --data-dir a", ["a folder"]],
  ["export --out a", ["a folder"]],
];

const folder = useFolder("docmirror-completion-");

beforeAll(async () => {
  mkdirSync(folder.at("a folder"));
  writeFileSync(folder.at("a file"), "");
  for (const shell of SHELLS) {
    const { code, stdout } = await runCli(["completion", shell]);
    expect(code).toBe(0);
    writeFileSync(folder.at(`script.${shell}`), stdout);
  }
});

/** What the shell offers, as its user would have it on the command line, without a slash at the end. */
function complete(shell: Shell, typed: string): string[] {
  const ask = { bash: inBash, zsh: inZsh, fish: inFish }[shell];
  const offered = ask(folder.at(`script.${shell}`), `docmirror ${typed}`);
  return offered.filter((line) => line !== "").map((line) => line.replace(/\/$/, ""));
}

/** As readline calls the function: the words of the line, and the place of the last. */
function inBash(script: string, line: string): string[] {
  const words = line.split(" ");
  const call = `source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _docmirror; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = { cwd: folder.path, encoding: "utf8" } as const;
  return execFileSync("bash", ["--norc", "-c", call, script, ...words], options).split("\n");
}

/** In a terminal: the line is typed, then Tab. What zsh would add goes to a file instead. */
function inZsh(script: string, line: string): string[] {
  const found = folder.at("found");
  writeFileSync(found, "");
  const setUp = `PROMPT=; autoload compinit; compinit -u -D; source ${script}
compadd() {
  if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return $?; fi
  local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >> ${found}; builtin compadd "$@"
}
leave() { exit }; zle -N leave; bindkey '^I' complete-word; bindkey '^X' leave`;
  writeFileSync(folder.at("set-up.zsh"), setUp);
  const typing = `zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell ${JSON.stringify(`source ${folder.at("set-up.zsh")}`)}
zpty -n -w shell ${JSON.stringify(line)}$'\\t\\x18'
while zpty -r shell >/dev/null; do :; done`;
  execFileSync("zsh", ["-f", "-c", typing], { cwd: folder.path, encoding: "utf8", timeout: 60_000 });
  const hits = readFileSync(found, "utf8").replaceAll("\\ ", " ").split("\n");
  return [...new Set(hits)];
}

function inFish(script: string, line: string): string[] {
  const said = execFileSync("fish", ["-N", "-c", `source ${script}; complete -C ${JSON.stringify(line)}`], {
    cwd: folder.path,
    encoding: "utf8",
    env: { ...process.env, HOME: folder.path },
  });
  return said.split("\n").map((candidate) => candidate.split("\t", 1)[0]?.replaceAll("\\ ", " ") ?? "");
}

describe.each(SHELLS)("the completion for %s", (shell) => {
  const isHere = has(shell);
  // zsh sets up its completion for each line, for a second and a half.
  const tags = shell === "zsh" ? ["long"] : [];
  it.skipIf(!isHere)(
    `offers what fits${isHere ? "" : ` (skipped: ${shell} is not installed)`}`,
    { tags, timeout: 120_000 },
    () => {
      const offered = CASES.map(([typed]) => [typed, complete(shell, typed).toSorted()]);
      expect(offered).toEqual(CASES.map(([typed, wanted]) => [typed, wanted.toSorted()]));
    },
  );
});

describe("the completion for bash", () => {
  it("goes on behind a comma and behind an equals sign, which readline makes a word", () => {
    expect(complete("bash", "sync --resource build,pro")).toEqual(["build,project"]);
    expect(complete("bash", "sync --log-format = pr")).toEqual(["pretty"]);
    expect(complete("bash", "report --format = csv failing_n")).toEqual(["failing_now"]);
  });

  it("offers the flags of a command that takes nothing else", () => {
    expect(complete("bash", "doctor ")).toContain("--json");
    expect(complete("bash", "doctor ")).not.toContain("--full");
  });

  it("offers nothing for a value that no list can hold", () => {
    expect(complete("bash", "sync --rate ")).toEqual([]);
  });
});
