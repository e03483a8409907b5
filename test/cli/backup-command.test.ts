import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type CliResult, runCli, startCli } from "../support/cli.ts";
import { useFolder } from "../support/folder.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";

const folder = useFolder("docmirror-backup-command-");
const database = useDatabase(createReportedMirror);
const { sql } = database;
const env = () => ({ DATABASE_URL: database.url });
const backUp = (...args: string[]) => runCli(["backup", ...args], { env: env() });

describe("docmirror backup", () => {
  it("says what is in the file, as a sentence or as JSON", async () => {
    const file = folder.at("mirror.backup");
    const { code, stdout } = await backUp(file);
    expect(code).toBe(0);
    expect(stdout).toMatch(/mirror\.backup: [\d,]+ rows as of \d{4}-\S+Z, \d+\.\d MB, read back\n$/);
    const { file: named, bytes, rows } = JSON.parse((await backUp(file, "--json")).stdout);
    expect({ named, bytes }).toEqual({ named: file, bytes: (await readFile(file)).length });
    expect(rows).toMatchObject({ "mirror.builds": 204, "mirror.projects": 4, "mirror.users": 1 });
  });

  it.each<[what: string, run: () => Promise<CliResult>, code: number, says: string]>([
    ["without a file", () => backUp(), 2, "missing required argument 'file'"],
    ["to no name", () => backUp(""), 2, "the file has no name"],
    ["to a folder", () => backUp(folder.path), 2, "is a folder"],
    ["to a device", () => backUp("/dev/null"), 2, "/dev/null is not a file"],
    ["into no folder", () => backUp(folder.at("no", "x")), 2, "its folder is not there"],
    ["of no mirror", () => runCli(["backup", "x"]), 7, "There is no mirror in ./.docmirror yet"],
  ])("%s ends with one sentence", async (_what, run, code, says) => {
    const result = await run();
    expect(result).toMatchObject({ code, stdout: "", stderr: expect.stringContaining(says) });
  });

  it("that is stopped leaves the last one and nothing else", { tags: ["long"] }, async () => {
    const file = folder.at("stopped.backup");
    await backUp(file);
    const before = await readFile(file);
    const names = await readdir(folder.path);
    await sql.begin(async (tx) => {
      await tx`lock table mirror.builds in access exclusive mode`;
      await using running = startCli(["backup", file], { env: env() });
      const waits = () => tx`select from pg_locks where not granted and relation = 'mirror.builds'::regclass`;
      await expect.poll(async () => (await waits()).length).toBe(1);
      expect(await running.stop("SIGINT")).toMatchObject({ code: 130, stdout: "" });
    });
    expect(await readFile(file)).toEqual(before);
    expect(await readdir(folder.path)).toEqual(names);
  });
});
