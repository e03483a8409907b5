import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { flagOf, type Setting } from "../../src/base/config/setting.ts";
import { SETTING_KEYS, SETTINGS, settingsFor } from "../../src/base/config/settings.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { runCli, startCli } from "../support/cli.ts";
import { PLANTED_SECRET } from "../support/planted-secret.ts";

describe("help", () => {
  it("names every command with its summary and shows examples", async () => {
    const { code, stdout, stderr } = await runCli(["--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const flat = stdout.replace(/\s+/g, " ");
    for (const { name, summary } of COMMANDS) expect(flat).toContain(`${name} ${summary}`);
    expect(stdout).toContain("Examples:");
  });

  it("is given on stderr with exit code 2 when no command was named", async () => {
    const { code, stdout, stderr } = await runCli([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Usage: docmirror");
  });

  it("of config shows name and default of every setting beside its flag", { tags: ["long"] }, async () => {
    const flat = (await runCli(["config", "--help"])).stdout.replace(/\s+/g, " ");
    for (const key of SETTING_KEYS) {
      const setting: Setting = SETTINGS[key];
      const value = setting.bare === undefined ? `<${setting.value}>` : `[${setting.value}]`;
      expect(flat).toContain(`--${flagOf(setting)} ${value} ${setting.meaning} [${setting.name}; `);
      if (setting.default !== null) expect(flat).toContain(`[${setting.name}; default ${setting.default}]`);
    }
    const stdout = expect.stringContaining("--rate");
    expect(await runCli(["help", "config"])).toMatchObject({ code: 0, stdout });
  });

  it("--version prints the package's version", async () => {
    const manifest = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    expect(await runCli(["--version"])).toMatchObject({ code: 0, stdout: `${manifest.version}\n` });
  });
});

it("each setting is a flag of a command that uses it", async () => {
  const users = COMMANDS.filter(({ name }) => name !== "config");
  const loaded = await Promise.all(users.map(({ load }) => load()));
  const used = loaded.flatMap(({ command }) => settingsFor(...command.settings, "log"));
  expect(new Set(used)).toEqual(new Set(SETTING_KEYS));
});

describe("wrong input", () => {
  it.each([
    [["confg"], "unknown command 'confg'; did you mean config?"],
    [["search", "foo"], "unknown command 'search'\n  `docmirror get --search` searches"],
    [["searching"], "unknown command 'searching'\n  see `docmirror --help`"],
    [["config", "--page-sise", "5"], "unknown option '--page-sise'; did you mean --page-size?"],
    [["--verbos", "config"], "unknown option '--verbos'; did you mean --verbose?"],
    [["config", "--rate"], "option '--rate <number>' argument missing"],
    [["config", "more"], "too many arguments"],
    [["get", "builds"], "Unknown resource 'builds'; did you mean build?\n  there are user, project,"],
    [["explain", "project", "5"], "Only a build can be explained"],
    [["explain", "builds", "7"], "docmirror: Unknown resource 'builds'; did you mean build?\n"],
    [["quarantine", "--resource", "users"], "docmirror: Unknown resource 'users'; did you mean user?\n"],
    [["sync", "--resource", "file,versions"], "Unknown resource 'versions'; did you mean version?\n"],
    [["get", "nothing"], "docmirror: Unknown resource 'nothing'\n"],
    [["get", "build", "--filter", "slug"], "docmirror: --filter slug: it is not of the form field=value\n"],
    [["report", "runs", "--format", "cvs"], "--format cvs: allowed choices are table, csv, json, md"],
    [["explain", "build", ""], "docmirror: id '': no record has such an id"],
    [["get", "build", "7", "--limit", "5"], "--filter, --limit and --offset are for lists"],
    [["get", "--schema"], "--schema takes a resource"],
    [["get"], "DOCMIRROR_BASE_URL is not set"],
    [["simulate", "--users", "x"], "docmirror: --users x: it is not a whole number"],
    [["simulate", "--time-zone", "Mars"], "--time-zone Mars: it is not the IANA name"],
    [["migrate", "--status", "--dry-run"], "cannot be used with option"],
    [["config", "--timezone", "Mars", "--rate", "x"], "2 settings cannot be used"],
  ])("%j exits 2 and says what to do", async (args, message) => {
    const { code, stdout, stderr } = await runCli(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(message);
    expect(stderr).toMatch(/^docmirror: .*\n(?: {2}.*\n)+$/);
    expect(stderr).not.toContain("    at ");
  });
});

describe("config", () => {
  const env = {
    DATABASE_URL: `postgres://me:${PLANTED_SECRET}@db/mirror`,
    DOCMIRROR_BASE_URL: `https://me:${PLANTED_SECRET}@docs.example.org/old/`,
  };

  it("shows every setting with its source and no secret", async () => {
    const { code, stdout, stderr } = await runCli(["config", "--rate", "2"], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const key of SETTING_KEYS) expect(stdout).toContain(SETTINGS[key].name);
    expect(stdout).toMatch(/^DATABASE_URL +postgres:\/\/me:\*\*\*@db\/mirror +environment$/m);
    expect(stdout).toMatch(/^DOCMIRROR_RATE +2 +flag$/m);
    expect(stdout).not.toContain(PLANTED_SECRET);
  });

  it("prints one JSON document with --json", async () => {
    const { stdout } = await runCli(["config", "--json", "--verbose"], { env });
    const masked = "https://me:***@docs.example.org/old/";
    expect(Object.keys(JSON.parse(stdout))).toHaveLength(SETTING_KEYS.length);
    expect(JSON.parse(stdout)).toMatchObject({
      DOCMIRROR_BASE_URL: { value: masked, source: "environment", flag: "--base-url" },
      DOCMIRROR_PAGE_SIZE: { value: "auto", source: "default" },
      DOCMIRROR_LOG_LEVEL: { value: "debug", source: "flag" },
    });
  });

  it("takes the common flags before its name as well", async () => {
    const { stdout } = await runCli(["--verbose", "config", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({ DOCMIRROR_LOG_LEVEL: { value: "debug" } });
  });

  it("has coloured heads only where colour is wanted", { tags: ["long"] }, async () => {
    const forced = { env: { FORCE_COLOR: "1" } };
    expect((await runCli(["config"])).stdout).not.toContain("\u001b[");
    expect((await runCli(["config"], forced)).stdout).toContain("\u001b[1msetting");
    expect((await runCli(["--no-color", "config"], forced)).stdout).not.toContain("\u001b[");
  });

  it.skipIf(!existsSync("/dev/full")).each([["--help"], ["report"], ["config", "--json"]])(
    "into a full disk says so in a sentence, exit code 2: %s",
    { tags: ["long"] },
    async (...args) => {
      expect(await runCli(args, { stdoutFile: "/dev/full" })).toMatchObject({
        code: 2,
        stderr: "docmirror: could not write to stdout: the disk is full (ENOSPC)\n  make room on the disk\n",
      });
    },
  );

  it("is not built without what builds it, and says what to do", () => {
    const { scripts } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
    const { status, stderr } = spawnSync("/bin/sh", ["-c", scripts.prebuild], {
      env: { PATH: "" },
      encoding: "utf8",
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining("npm ci --include=dev"),
    });
  });

  it("ends quietly when its reader takes the first bytes alone", async () => {
    await using cli = startCli(["config", "--json"]);
    const head = spawn("head", ["-c", "10"], { stdio: ["pipe", "pipe", "inherit"] });
    head.stdin.on("error", () => undefined);
    cli.child.stdout?.pipe(head.stdin);
    expect(await text(head.stdout)).toBe('{\n  "DATABA'.slice(0, 10));
    expect(await cli.ended).toMatchObject({ code: 0, stderr: "" });
  });
});
