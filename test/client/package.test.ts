import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { findBuiltProgram } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { startService, TINY } from "../support/service.ts";

const run = promisify(execFile);
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const TSC = here("../../node_modules/.bin/tsc");
const TYPES = here("../../node_modules/@types");

/** All that the client may load beside the package itself: a queue and HTTP. Node finds no other package here. */
const LOADED = ["p-queue", "undici"];

/** A program's folder with the package in its node_modules, built as the package is. */
const folder = useFolder("docmirror-package-");

beforeAll(async () => {
  const installed = folder.at("node_modules", "docmirror");
  mkdirSync(join(installed, "node_modules"), { recursive: true });
  cpSync(here("../../package.json"), join(installed, "package.json"));
  for (const name of LOADED)
    symlinkSync(here(`../../node_modules/${name}`), join(installed, "node_modules", name));
  // As the package is built.
  const built = { rootDir: here("../../src"), outDir: join(installed, "dist"), typeRoots: [TYPES] };
  const project = { extends: here("../../src/client/tsconfig.json"), compilerOptions: built, include: [] };
  const files = [here("../../src/client/index.ts")];
  writeFileSync(folder.at("tsconfig.json"), JSON.stringify({ ...project, files }));
  await run(TSC, ["-p", folder.path]);
  writeFileSync(folder.at("package.json"), '{"type":"module"}');
});

async function runProgram(source: string, ...args: string[]): Promise<string> {
  writeFileSync(folder.at("program.mjs"), source);
  const { stdout } = await run(process.execPath, ["program.mjs", ...args], { cwd: folder.path });
  return stdout;
}

async function checkTypes(source: string, options: readonly string[], tsc = TSC): Promise<string> {
  writeFileSync(folder.at("typed.ts"), source);
  const strict = ["--noEmit", "--strict", "--module", "nodenext", "--moduleResolution", "nodenext"];
  return run(tsc, [...strict, ...options, "typed.ts"], { cwd: folder.path }).then(
    ({ stdout }) => stdout,
    (error: { stdout: string }) => error.stdout,
  );
}

describe("docmirror/client", () => {
  it("runs the example of docs/client.md without a database, and ends", { tags: ["long"] }, async () => {
    await using simulation = await startService(TINY);
    const [, js = ""] = /```js\n([\s\S]*?)```/.exec(readFileSync(here("../../docs/client.md"), "utf8")) ?? [];
    const example = js.replace("https://docs.example.org", simulation.url);
    expect(example).toContain(simulation.url);
    const lines = (await runProgram(example)).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(3);
    expect(lines[0]).toBe("build, file, project, user, version");
  });

  it("loads a queue and HTTP alone: no cron lines, no Postgres, no log, no command line", {
    tags: ["long"],
  }, async () => {
    const stdout = await runProgram(`
      import * as client from "docmirror/client";
      console.log(Object.keys(client).join());
      await import("postgres").catch(({ code }) => console.log(code));
    `);
    expect(stdout).toMatch(/createServiceClient.*\nERR_MODULE_NOT_FOUND\n$/);
  });

  it("says what a bundler left behind, and blames no service", async () => {
    const source = `
      import { createServiceClient } from ${JSON.stringify(here("../../src/client/index.ts"))};
      const service = createServiceClient({ baseUrl: "http://127.0.0.1:9", retries: 3 });
      await service.fetchRoot().catch(({ name, message, hint }) => console.log(name, message, hint));`;
    const stdin = { contents: source, resolveDir: here("../..") };
    const bundled = { bundle: true, platform: "node", format: "esm", write: false } as const;
    const { outputFiles } = await build({ stdin, ...bundled });
    const stdout = await runProgram(outputFiles[0]?.text ?? "");
    expect(stdout).toMatch(/^MirrorError .* could not be loaded: Dynamic require .*--packages=external/);
    expect(stdout).not.toContain("got no answer");
  });

  it("is a package of its own too, of a queue and HTTP alone", { tags: ["long"] }, async ({ skip }) => {
    skip(findBuiltProgram() === null, "skipped: the program is not built");
    await run(here("../../node_modules/.bin/tsx"), [here("../../tools/pack-client.ts"), folder.path]);
    const { version } = JSON.parse(readFileSync(here("../../package.json"), "utf8"));
    const installed = folder.at("node_modules", "docmirror-client");
    mkdirSync(join(installed, "node_modules"), { recursive: true });
    const packed = folder.at(`docmirror-client-${version}.tgz`);
    await run("tar", ["xzf", packed, "--strip-components=1", "-C", installed]);
    const { dependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
    expect(Object.keys(dependencies)).toEqual(LOADED);
    for (const name of LOADED)
      symlinkSync(here(`../../node_modules/${name}`), join(installed, "node_modules", name));
    const source = "docmirror-client";
    expect(
      await runProgram(`import * as client from "${source}"; console.log(Object.keys(client).join())`),
    ).toMatch(/createServiceClient/);
    expect(
      await checkTypes(TYPED.replace("docmirror/client", source), ["--ignoreConfig", "--target", "es2022"]),
    ).toBe("");
    const readme = readFileSync(join(installed, "README.md"), "utf8");
    expect(readme).toContain(`from "${source}"`);
    expect(readme).not.toMatch(/\]\([a-z]+\.md/);
  });

  /** Each kind of what is exported: `public-types.test.ts` has all of them. */
  const TYPED = `
      import { createServiceClient, NotFoundError, type Build } from "docmirror/client";
      const service = createServiceClient({ baseUrl: "https://docs.example.org", fetch });
      for await (const build of service.list("build", { filters: { project__slug: "pip" } })) {
        const known: Build = build;
        // @ts-expect-error It may be null.
        const wrong: string = known.state;
      }
      // @ts-expect-error There is no such resource.
      service.list("builds");
      const { value, reply } = await service.fetchRecord("build", "7", { timeoutMs: 1000 }).withReply();
      const success: boolean | null | undefined = value.success;
      console.log(NotFoundError, success, reply.headers["x-request-id"]);
    `;

  it("is typed for programs of any target, with and without Node's types", { tags: ["long"] }, async () => {
    expect(await checkTypes(TYPED, ["--ignoreConfig", "--target", "es2022"])).toBe("");
    const node = ["--types", "node", "--typeRoots", TYPES];
    const exact = ["--ignoreConfig", "--target", "esnext", "--exactOptionalPropertyTypes", ...node];
    expect(await checkTypes(TYPED, exact)).toBe("");
  });

  it("is typed under the resolutions that docs/client.md names", { tags: ["long"] }, async () => {
    const [, named = ""] =
      /`moduleResolution` (`.*`),/.exec(readFileSync(here("../../docs/client.md"), "utf8")) ?? [];
    const resolutions = named.match(/\w+/g) ?? [];
    expect(resolutions.length).toBeGreaterThan(1);
    for (const resolution of resolutions.filter((word) => word !== "or")) {
      const module = resolution === "bundler" ? "esnext" : resolution;
      const options = [
        "--ignoreConfig",
        "--target",
        "es2022",
        "--module",
        module,
        "--moduleResolution",
        resolution,
      ];
      expect(await checkTypes(TYPED, options)).toBe("");
    }
  });

  // Its compiler is one more download.
  it("is typed for TypeScript 5.2, the oldest that docs/client.md names", {
    tags: ["long", "exhaustive"],
    timeout: 180_000,
  }, async ({ skip }) => {
    expect(readFileSync(here("../../docs/client.md"), "utf8")).toContain("TypeScript 5.2 or newer");
    const oldest = folder.at("oldest");
    const install = ["install", "--prefix", oldest, "--no-save", "--fetch-retries=0", "typescript@5.2.2"];
    const missing = await run("npm", install, { cwd: folder.path }).then(
      () => false,
      () => true,
    );
    skip(missing, "skipped: the registry cannot be reached");
    const tsc = join(oldest, "node_modules/.bin/tsc");
    expect(await checkTypes(TYPED, ["--target", "es2022"], tsc)).toBe("");
  });

  it("offers no other path of the package than its manifest", { tags: ["long"] }, async () => {
    const stdout = await runProgram(`
      const codes = [];
      for (const path of ["docmirror", "docmirror/dist/cli/main.js"])
        codes.push(await import(path).catch(({ code }) => code));
      console.log(codes.join(), import.meta.resolve("docmirror/package.json").startsWith("file:"));
    `);
    expect(stdout).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED,ERR_PACKAGE_PATH_NOT_EXPORTED true\n");
  });
});
