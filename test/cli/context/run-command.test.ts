import { cpSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { beforeAll, describe, expect, it } from "vitest";
import { type CliOptions, runCli, startCli } from "../../support/cli.ts";
import { useFolder } from "../../support/folder.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const folder = useFolder("docmirror-probe-");
let script: URL;

/** As one file, which starts in a fifth of the time. */
beforeAll(async () => {
  const outfile = folder.at("probe.js");
  await build({
    entryPoints: [here("../probe.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    sourcemap: "linked",
    external: ["@duckdb/node-api"],
    banner: { js: "import{createRequire as from}from'node:module';const require=from(import.meta.url);" },
  });
  cpSync(here("../../../package.json"), folder.at("package.json"));
  script = pathToFileURL(outfile);
});

const probe = (args: string[], options: CliOptions = {}) => runCli(args, { script, ...options });

describe("exit codes", () => {
  it("the command's own code is the process's", { tags: ["long"] }, async () => {
    expect(await probe(["code"])).toMatchObject({ code: 3, stderr: "" });
    expect(await probe(["nothing"])).toMatchObject({ code: 0, stdout: "", stderr: "" });
  });

  it("a known error gives its code, its message and its hint, and no stack trace", async () => {
    const { code, stdout, stderr } = await probe(["known error"]);
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
    expect(stderr).toBe("docmirror: could not start: run 7 holds the ␛[2Jlock\n  wait for it\n");
  });

  it("a bug is one line and exit code 1", async () => {
    const { code, stderr } = await probe(["bug"]);
    expect(code).toBe(1);
    expect(stderr).toBe(
      "docmirror: a bug: TypeError: cannot read it\n  run again with --verbose for the stack trace\n",
    );
  });

  it("an error that nobody awaited is told as a bug and ends the process", async () => {
    const { code, stderr } = await probe(["unawaited bug"]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^docmirror: a bug: TypeError: nobody waited\n/);
    expect(stderr).not.toContain("    at ");
  });

  it("--verbose shows the stack traces of an error and its causes", async () => {
    const { stderr } = await probe(["known error", "--verbose"]);
    expect(stderr).toMatch(/\n {4}at .*probe\.ts/);
    expect(stderr).toMatch(/caused by Error: the cause\n {4}at /);
  });
});

describe("signals", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 143],
  ] as const)("the first %s lets the command clean up and exits %i", async (signal, code) => {
    await using cli = startCli(["wait"], { script });
    await cli.waitFor("stdout", /ready/);
    const result = await cli.stop(signal);
    expect(result).toMatchObject({ code, signal: null, stdout: "ready\ncleaned up\n" });
    expect(result.stderr).toContain(`docmirror: stopped by ${signal}\n`);
  });

  it("a terminal that hangs up twice does not cut the command short", async () => {
    await using cli = startCli(["deaf"], { script });
    await cli.waitFor("stdout", /ready/);
    cli.signal("SIGHUP");
    await cli.waitFor("stdout", /heard/);
    cli.signal("SIGHUP");
    expect(await cli.stop("SIGINT")).toMatchObject({ code: 130 });
  });

  it("the second ends a command that does not listen at once", async () => {
    await using cli = startCli(["deaf"], { script });
    await cli.waitFor("stdout", /ready/);
    cli.signal("SIGTERM");
    await cli.waitFor("stdout", /heard/);
    expect(await cli.stop()).toMatchObject({ code: 143 });
  });

  it("a command that hangs is cut short 9 s after the first, and says so", { tags: ["long"] }, async () => {
    await using cli = startCli(["deaf"], { script });
    await cli.waitFor("stdout", /ready/);
    const { code, stderr } = await cli.stop();
    expect(code).toBe(143);
    expect(stderr).toContain("docmirror: stopped by SIGTERM; it did not end within 9 s and is cut short\n");
  });

  it("a command that ends by an error that the stop caused was stopped too", { tags: ["long"] }, async () => {
    await using cli = startCli(["wrapped stop"], { script });
    await cli.waitFor("stdout", /ready/);
    const { code, stderr } = await cli.stop("SIGINT");
    expect(code).toBe(130);
    expect(stderr).not.toContain("query failed");
  });
});

describe("stdout", () => {
  it("a slow reader gets every byte", async () => {
    await using cli = startCli(["big"], { script });
    cli.child.stdout?.pause();
    await cli.waitFor("stdout", /^/);
    // A reader that takes one chunk each turn of the event loop, long after the pipe was full.
    cli.child.stdout?.on("data", () => {
      cli.child.stdout?.pause();
      setImmediate(() => cli.child.stdout?.resume());
    });
    cli.child.stdout?.resume();
    const { code, stdout } = await cli.ended;
    expect({ code, length: stdout.length }).toEqual({ code: 0, length: 64 * 16_384 });
  });

  it("a reader that goes away ends the command quietly", async () => {
    await using cli = startCli(["endless"], { script });
    await cli.waitFor("stdout", /line/);
    cli.child.stdout?.destroy();
    expect(await cli.ended).toMatchObject({ code: 0, stderr: "" });
  });
});

describe("the log", () => {
  it("is JSON on stderr where there is no terminal, at the level asked for", async () => {
    const { stdout, stderr } = await probe(["log"]);
    expect(stdout).toBe("");
    const lines = stderr.trim().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { resource: "build", page: 2, msg: "an info line" },
    ]);
  });

  it("tells more with --verbose unless a level is named", { tags: ["long"] }, async () => {
    expect((await probe(["log", "--verbose"])).stderr).toContain("a debug line");
    expect((await probe(["log", "--verbose", "--log-level", "error"])).stderr).toBe("");
  });

  it("has colour only where it is wanted", { tags: ["long"] }, async () => {
    const pretty = { DOCMIRROR_LOG_FORMAT: "pretty" };
    expect((await probe(["log"], { env: pretty })).stderr).not.toContain("\u001b[");
    expect((await probe(["log"], { env: { ...pretty, FORCE_COLOR: "1" } })).stderr).toContain("\u001b[");
    expect(
      (await probe(["log", "--no-color"], { env: { ...pretty, FORCE_COLOR: "1" } })).stderr,
    ).not.toContain("\u001b[");
  });
});
