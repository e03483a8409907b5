import { execFile, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it } from "vitest";
import { SETTING_KEYS, SETTINGS } from "../../src/base/config/settings.ts";
import { EXIT } from "../../src/base/errors.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { createCommand } from "../../src/cli/usage/create-command.ts";
import { useFolder } from "../support/folder.ts";

const FOLDER = fileURLToPath(new URL("../../deploy/systemd/", import.meta.url));
const units = readdirSync(FOLDER).map((name) => ({ name, text: readFileSync(join(FOLDER, name), "utf8") }));
const services = units.filter(({ name }) => name.endsWith(".service"));
const timers = units.filter(({ name }) => name.endsWith(".timer"));
const valuesOf = (text: string, key: string) =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, "gm"))].map(([, value = ""]) => value);
const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).status === 0;
const skipped = hasAnalyze ? "" : ", skipped: there is no systemd-analyze";

/** Ten times the score of `systemd-analyze security`, from 0 to 10, that a unit may have at most. */
const THRESHOLD = 15;

describe.each(services)("$name", ({ text }) => {
  it("runs a command that is there, with flags that it has", async () => {
    const [, name = "", rest = ""] = /bin\/docmirror\.js ([a-z-]+)(.*)$/m.exec(text) ?? [];
    const entry = COMMANDS.find((command) => command.name === name);
    const command = entry && createCommand(entry, (await entry.load()).command);
    const flags = command?.options.map(({ long }) => long);
    expect(flags).toEqual(expect.arrayContaining(rest.match(/--[a-z-]+/g) ?? []));
  });

  it("names settings and exit codes that are there", () => {
    const names = SETTING_KEYS.map((key) => SETTINGS[key].name);
    const given = valuesOf(text, "Environment").map((line) =>
      line.split("=", 1)[0]?.replace(/^"|_FILE$/g, ""),
    );
    expect([...names, "NODE_ENV"]).toEqual(expect.arrayContaining(given));
    const codes = ["RestartPreventExitStatus", "SuccessExitStatus"].flatMap((key) => valuesOf(text, key));
    const all = codes.flatMap((line) => line.split(" ").map(Number));
    expect(Object.values(EXIT)).toEqual(expect.arrayContaining(all));
  });

  it("has its password from a file that root alone can read", () => {
    expect(valuesOf(text, "LoadCredential")).toEqual(["database_password:/etc/docmirror/database_password"]);
    expect(text).toContain("\nEnvironment=DOCMIRROR_DATABASE_PASSWORD_FILE=%d/database_password\n");
  });

  it("is fenced in like the others", () => {
    const fence = (unit: string) => unit.slice(unit.indexOf("\nDynamicUser="), unit.indexOf("\n[Install]"));
    expect(fence(text).trim()).toBe(fence(services[0]?.text ?? "").trim());
    expect(fence(text)).toContain("\nSystemCallFilter=");
    expect(valuesOf(text, "LimitCORE")).toEqual(["0"]);
  });
});

it("the worker is started anew when it tells nothing any more, and its helper may tell", () => {
  const worker = services.find(({ name }) => name === "docmirror.service")?.text ?? "";
  const told = ["WatchdogSec", "NotifyAccess", "Restart"].flatMap((key) => valuesOf(worker, key));
  expect(told).toEqual(["120", "all", "on-failure"]);
  // For as long as it takes, also while its new password is not in its file yet.
  expect(valuesOf(worker, "StartLimitIntervalSec")).toEqual(["0"]);
  expect(valuesOf(worker, "RestartPreventExitStatus")).toEqual(["2 7"]);
});

it("the worker and the nightly sync write backups into a folder that systemd makes for them", () => {
  const textOf = (name: string) => services.find((unit) => unit.name === name)?.text ?? "";
  const [worker, night] = [textOf("docmirror.service"), textOf("docmirror-sync.service")];
  for (const text of [worker, night]) expect(valuesOf(text, "StateDirectory")).toEqual(["docmirror"]);
  expect(valuesOf(worker, "Environment")).toContain("DOCMIRROR_BACKUP_DIR=%S/docmirror");
  // A backup that fails makes no second sync.
  expect(valuesOf(night, "ExecStartPost")).toEqual([
    expect.stringMatching(/^-.* backup %S\/docmirror --keep \d+ /),
  ]);
});

it("each timer has its service, which no schedule starts otherwise", () => {
  const timed = timers.map(({ name }) => name.replace(".timer", ".service"));
  expect(services.filter(({ name }) => timed.includes(name))).toHaveLength(timers.length);
  const installed = services.filter(({ text }) => text.includes("[Install]")).map(({ name }) => name);
  expect(installed).toEqual(["docmirror.service"]);
  for (const { text } of timers) expect(valuesOf(text, "Persistent")).toEqual(["true"]);
});

describe.skipIf(!hasAnalyze)(`systemd-analyze${skipped}`, () => {
  const run = promisify(execFile);
  const folder = useFolder("docmirror-units-");
  beforeAll(() => {
    // It wants a program that is there.
    for (const { name, text } of units)
      writeFileSync(folder.at(name), text.replaceAll("/usr/bin/node", process.execPath));
  });

  it("finds nothing wrong in any unit", async () => {
    const paths = units.map(({ name }) => folder.at(name));
    const { stdout, stderr } = await run("systemd-analyze", ["verify", "--man=no", ...paths]);
    expect(stdout + stderr).toBe("");
  });

  it.each(services)("finds $name hardly exposed", async ({ name }) => {
    const flags = ["security", "--offline=true", "--no-pager", `--threshold=${THRESHOLD}`];
    const { stdout } = await run("systemd-analyze", [...flags, folder.at(name)]);
    expect(stdout).toMatch(/Overall exposure level for .*: [01]\.\d OK/);
  });
});
