/**
 * `npm run bench:start`: how long after Node's own start each command prints its first line. Each time is the least of `--runs 10`, less the least
 * of `node -e 0`; the ratio is to the latter. Other work on the machine only makes times longer, so the least is closest to the truth.
 */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { COMMANDS } from "../../src/cli/commands.ts";

const GOAL_MS = 300;
const SCRIPT = fileURLToPath(new URL("../../bin/docmirror.js", import.meta.url));
const { values } = parseArgs({ options: { runs: { type: "string", default: "10" } } });

const folder = mkdtempSync(join(tmpdir(), "docmirror-bench-start-"));

/** The time until the first byte on stdout or stderr, or until the end of a process that prints nothing. The process is then ended. */
function firstLineMs(args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const from = performance.now();
    const child = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
    let ms: number | undefined;
    const first = () => {
      ms ??= performance.now() - from;
      child.kill("SIGTERM");
    };
    child.stdout.once("data", first);
    child.stderr.once("data", first);
    child.once("error", reject);
    child.once("close", () => resolve(ms ?? performance.now() - from));
  });
}

async function leastMs(args: readonly string[]): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < Number(values.runs); run++) least = Math.min(least, await firstLineMs(args));
  return least;
}

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Command lines whose first line comes from their own work: an answer, a log line or an error. */
const OWN: readonly string[] = [
  ...[
    "config",
    "report",
    "status",
    "doctor",
    "serve",
    "migrate --status",
    "explain build 1",
    "export --out out",
  ],
  ...["sync --base-url http://127.0.0.1:9", "get build --base-url http://127.0.0.1:9 --retries 0"],
  ...["completion bash", "simulate --port 0", "database", "demo"],
];

try {
  const node = await leastMs(["-e", "0"]);
  say(`node -e 0: ${node.toFixed(0)} ms, least of ${values.runs}\n`);
  say("| command line | after Node's start | of Node's start |\n| --- | --- | --- |");
  const lines = ["--help", ...COMMANDS.map(({ name }) => `${name} --help`), ...OWN];
  let slow = 0;
  for (const line of lines) {
    const after = (await leastMs([SCRIPT, ...line.split(" ")])) - node;
    if (after > GOAL_MS) slow += 1;
    const shown = `${after.toFixed(0)} ms`;
    say(`| \`${line}\` | ${after > GOAL_MS ? `**${shown}**` : shown} | ${(after / node).toFixed(1)} |`);
  }
  say(`\n${lines.length - slow} of ${lines.length} within ${GOAL_MS} ms`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
