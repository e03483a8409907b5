/**
 * `npm run test:clients`: a mirror of a simulated service, with its content, is served, and strangers read its `/openapi.json`.
 * Schemathesis sends what the description allows and what it does not, by all its checks. openapi-python-client and openapi-typescript
 * generate clients; mypy, pyright and tsc check these strictly, with a program each that reads every list. Exits 1 where anything
 * differs. It installs from the package indexes: Python's packages once into the user's cache folder, those of npm each time.
 *
 * Options: `--seconds 180` for Schemathesis, 0 for none, and `--seed 1`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import type { FileRecord } from "../../src/resources/resources.ts";
import { installPackages } from "../../test/support/python-packages.ts";

const { values } = parseArgs({
  options: { seconds: { type: "string", default: "180" }, seed: { type: "string", default: "1" } },
});
const NPM_PACKAGES = [
  "typescript@5.9.3",
  "openapi-typescript@7.13.0",
  "openapi-fetch@0.17.0",
  "@types/node@20.19.43",
];
const STRICT = ["--strict", "--noUncheckedIndexedAccess", "--exactOptionalPropertyTypes"];
const MODULES = ["--target", "es2022", "--module", "nodenext"];
const PROGRAM = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));
const beside = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const print = (line: string) => process.stdout.write(`${line}\n`);

const folder = await mkdtemp(join(tmpdir(), "docmirror-clients-"));
const servers: ChildProcess[] = [];

/** Runs a command in the folder and gives what it printed. Throws with all of that when it fails. */
async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<string> {
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env } });
  const closed = once(child, "close");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code] = await closed;
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${out}${err}`);
  return out.trim();
}

const docmirror = (...args: string[]) => run(process.execPath, [PROGRAM, ...args]);

/** Starts a command that serves. Gives the address that is its first line. */
async function serve(...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    cwd: folder,
    stdio: ["ignore", "pipe", "ignore"],
  });
  servers.push(child);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return line;
}

/** The last lines that Schemathesis prints say how many cases there were. */
async function tryCases(bin: string, description: string): Promise<void> {
  const budget = ["--max-time", values.seconds, "--continue-on-failure", "--seed", values.seed];
  const said = await run(join(bin, "schemathesis"), ["run", description, "--checks", "all", ...budget]);
  print(`schemathesis: ${/\d+ generated.*/.exec(said)?.[0] ?? said}`);
}

async function readByPython(bin: string, description: string, args: readonly string[]): Promise<string> {
  const generator = join(bin, "openapi-python-client");
  // The generator formats by ruff when that is on its path.
  await run(generator, ["generate", "--url", description, "--output-path", "python", "--fail-on-warning"], {
    PATH: `${bin}:${process.env.PATH}`,
  });
  await copyFile(beside("read-mirror.py"), join(folder, "python", "read_mirror.py"));
  const checked = [join("python", "docmirror_client"), join("python", "read_mirror.py")];
  print(`mypy --strict: ${await run(join(bin, "mypy"), ["--strict", ...checked], { MYPYPATH: "python" })}`);
  await writeFile(
    join(folder, "pyrightconfig.json"),
    JSON.stringify({
      include: ["python/read_mirror.py"],
      extraPaths: ["python"],
      typeCheckingMode: "strict",
    }),
  );
  const python = join(bin, "python");
  print(`pyright: ${await run(join(bin, "pyright"), ["--pythonpath", python])}`);
  return run(python, [join("python", "read_mirror.py"), ...args]);
}

async function readByTypeScript(description: string, args: readonly string[]): Promise<string> {
  await writeFile(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }));
  await run("npm", ["install", "--silent", "--no-audit", "--no-fund", ...NPM_PACKAGES]);
  await mkdir(join(folder, "typescript"));
  const [types, program] = ["description.ts", "read-mirror.ts"].map((name) => join("typescript", name));
  await run("npx", ["openapi-typescript", description, "--output", types ?? ""]);
  await copyFile(beside("read-mirror.ts"), join(folder, program ?? ""));
  await run("npx", ["tsc", ...STRICT, ...MODULES, "--outDir", "typescript", program ?? ""]);
  print(`tsc ${STRICT.join(" ")}: no issues`);
  return run(process.execPath, [join("typescript", "read-mirror.js"), ...args]);
}

try {
  const python = await installPackages("../../lab/clients/requirements.txt");
  if ("missing" in python) throw new Error(python.missing);
  const sizes = [
    "--users",
    "60",
    "--projects",
    "40",
    "--versions",
    "200",
    "--files",
    "150",
    "--builds",
    "1200",
  ];
  const service = await serve("simulate", ...sizes, "--speed", "0");
  await docmirror("sync", "--content", "--base-url", service, "--rate", "500");
  const url = await serve("serve", "--http-port", "0");
  const description = `${url}/openapi.json`;
  const files = (await (await fetch(`${url}/api/v1/file/`)).json()) as { objects: FileRecord[] };
  const file = files.objects.find(
    ({ name, project }) => /^[a-z]+\.html$/.test(name) && /[a-z]/.test(project.slug),
  );
  if (file === undefined) throw new Error("no file has a name of one word");
  // The heading of a simulated page.
  const args = [url, file.project.slug, file.name.replace(".html", "")];

  const byPython = await readByPython(python.bin, description, args);
  const byTypeScript = await readByTypeScript(description, args);
  print(`Python read ${byPython}, TypeScript ${byTypeScript}`);
  if (JSON.stringify(JSON.parse(byPython)) !== byTypeScript)
    throw new Error("the clients read different lists");
  if (values.seconds !== "0") await tryCases(python.bin, description);
} finally {
  for (const server of servers.reverse()) {
    const closed = once(server, "close");
    server.kill("SIGTERM");
    await closed;
  }
  await rm(folder, { recursive: true, force: true });
}
