/**
 * Breaks the core in ten ways, one at a time in a copy of the tree, and says which short tests see it. Each mutation is
 * a small replacement in one file, as a mistake would be. Exits 1 when no named test sees one of them, or when its text
 * is not in the file any more.
 *
 *   npm run test:mutations
 *   npm run test:mutations -- hold anchors
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

interface Mutation {
  readonly name: string;
  /** What is wrong then. */
  readonly wrong: string;
  readonly file: string;
  readonly from: string;
  readonly to: string;
  /** Test files, of which one at least must fail. */
  readonly tests: readonly string[];
}

const MUTATIONS: readonly Mutation[] = [
  {
    name: "retry",
    wrong: "a request that failed is never sent again",
    file: "src/mirror/api/retry.ts",
    from: "if (number > retries ||",
    to: "if (number > 0 ||",
    tests: ["test/mirror/api/retry.test.ts", "test/mirror/run/fault-matrix.test.ts"],
  },
  {
    name: "hold",
    wrong: "503 holds back the request that it answers, and no other",
    file: "src/mirror/api/retry.ts",
    from: "&& (error.status === 429 || error.status === 503)",
    to: "&& error.status === 429",
    tests: ["test/mirror/api/host-gate.test.ts", "test/mirror/run/fault-matrix.test.ts"],
  },
  {
    name: "anchors",
    wrong: "a page counts that holds no record of those before it",
    file: "src/mirror/walk/pass.ts",
    from: "(anchors === 0 || isWeak)",
    to: "isWeak",
    tests: ["test/mirror/walk/course.test.ts", "test/mirror/walk/walk.test.ts"],
  },
  {
    name: "tombstone",
    wrong: "any refusal of a record's detail marks it deleted, not 404 and 410 alone",
    file: "src/mirror/api/retry.ts",
    from: "(error.status === 404 || error.status === 410)",
    to: "error.status >= 400",
    tests: ["test/mirror/run/confirm-deletions.test.ts", "test/mirror/run/repair-references.test.ts"],
  },
  {
    name: "bounds",
    wrong: "a state was entered after the last reply that showed another one, not after its request",
    file: "src/mirror/load/record-transitions.ts",
    from: "sighting.id, entered.at, sighting.asked_at,",
    to: "sighting.id, entered.at, sighting.at,",
    tests: ["test/mirror/load/transitions.test.ts", "test/mirror/load/transitions-model.test.ts"],
  },
  {
    name: "record hash",
    wrong: "fields that docmirror does not know count for nothing, so a change of one is never stored",
    file: "src/mirror/normalize/record-hash.ts",
    from: "if (keys.length > known) {",
    to: "if (keys.length < known) {",
    tests: ["test/mirror/normalize/record-hash.test.ts", "test/mirror/load/changes.test.ts"],
  },
  {
    name: "checkpoint",
    wrong: "the checkpoint is committed before the pages that it stands behind",
    file: "src/mirror/lists/settle-pages.ts",
    from: "save(tx, progress(settled)),",
    to: "save(sql, progress(settled)),",
    tests: ["test/mirror/run/all-or-nothing.test.ts"],
  },
  {
    name: "lock check",
    wrong: "a batch is stored though another run has taken the lock",
    file: "src/mirror/load/loader.ts",
    from: "options.assertMayWrite?.(tx),",
    to: "",
    tests: ["test/mirror/load/loader.test.ts"],
  },
  {
    name: "outbox",
    wrong: "a notice is not held by the process that sends it, so that two may send it",
    file: "src/notify/outbox.ts",
    from: "const CLAIM_S = 60;",
    to: "const CLAIM_S = 0;",
    tests: ["test/notify/deliver.test.ts"],
  },
  {
    name: "revision",
    wrong: "a list keeps its revision when a record changes that is embedded in it",
    file: "src/serve/catalog/mirror-catalog.ts",
    from: "[resource, ...targets.flatMap(({ target }) => partsOf(target))]",
    to: "[resource, ...targets.slice(0, 0).flatMap(({ target }) => partsOf(target))]",
    tests: ["test/serve/catalog", "test/serve/http/caching.test.ts", "test/serve/http/caching.test.ts"],
  },
];

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
