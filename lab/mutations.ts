/**
 * Breaks the core in ten ways, one at a time in a copy of the tree, and says which short tests see it. Exits 1 when no
 * named test sees one of them.
 *
 *   npm run test:mutations
 *   npm run test:mutations -- hold anchors
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { MUTATIONS, type Mutation } from "./known-mutations.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const copy = mkdtempSync(join(tmpdir(), "docmirror-mutations-"));
try {
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard"], {
    cwd: ROOT,
    encoding: "utf8",
  });
  for (const file of files.split("\n").filter(Boolean)) cpSync(join(ROOT, file), join(copy, file));
  symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  symlinkSync(join(ROOT, "dist"), join(copy, "dist"));
  const wanted = process.argv.slice(2);
  const chosen = MUTATIONS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
  print("| what is broken | then | seen by |\n| --- | --- | --- |\n");
  for (const mutation of chosen) {
    const seen = play(mutation);
    if (seen.length === 0) process.exitCode = 1;
    print(`| ${mutation.name} | ${mutation.wrong} | ${seen.join(", ") || "**no test**"} |\n`);
  }
} finally {
  rmSync(copy, { recursive: true, force: true });
}

/** The files whose tests fail with the mutation, each with how many. */
function play({ file, from, to, tests }: Mutation): string[] {
  const path = join(copy, file);
  const source = readFileSync(path, "utf8");
  if (source.split(from).length !== 2) throw new Error(`${file} should hold this text once: ${from}`);
  writeFileSync(
    path,
    source.replace(from, () => to),
  );
  try {
    const report = join(copy, "report.json");
    const args = [
      "vitest",
      "run",
      "--tags-filter=!long",
      "--reporter=json",
      `--outputFile=${report}`,
      ...tests,
    ];
    spawnSync("npx", args, { cwd: copy, stdio: ["ignore", "ignore", "inherit"] });
    const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report;
    rmSync(report);
    return testResults
      .map(({ name, assertionResults }) => {
        const failed = assertionResults.filter(({ status }) => status === "failed");
        for (const { fullName } of failed) process.stderr.write(`${relative(copy, name)}: ${fullName}\n`);
        return { name: relative(copy, name), count: failed.length };
      })
      .filter(({ count }) => count > 0)
      .map(({ name, count }) => `\`${name}\` (${count})`)
      .toSorted();
  } finally {
    writeFileSync(path, source);
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function print(text: string): void {
  process.stdout.write(text);
}
