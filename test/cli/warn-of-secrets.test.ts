import { writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type CliOptions, runCli } from "../support/cli.ts";

const warnings = async (args: string[], options: CliOptions = {}) => {
  const { code, stderr } = await runCli(["config", ...args], { ...options });
  expect(code).toBe(0);
  expect(stderr).not.toContain("hunter2");
  return stderr
    .split("\n")
    .flatMap((line) => (line === "" ? [] : [JSON.parse(line) as Record<string, unknown>]));
};

describe("a password in a flag", () => {
  it.each([
    ["--database-url", "postgres://me:hunter2@db/mirror", "DATABASE_URL"],
    ["--database-url", "postgres://me@db/mirror?password=hunter2", "DATABASE_URL"],
    ["--read-url", "postgres://me:hunter2@db2/mirror", "DOCMIRROR_READ_URL"],
    ["--base-url", "https://me:hunter2@docs.example.org", "DOCMIRROR_BASE_URL"],
    ["--base-url", "https://hunter2@docs.example.org", "DOCMIRROR_BASE_URL"],
  ])("%s %s is warned of once, with the way to give it", async (flag, url, name) => {
    expect(await warnings([flag, url])).toMatchObject([
      {
        msg: "the password in a flag is visible to all users of this machine in the process list",
        ...{ flag, hint: `give it by ${name}, or by the file that ${name}_FILE names` },
      },
    ]);
  });

  it("is not warned of where there is none in it", { tags: ["long"] }, async () => {
    expect(await warnings(["--database-url", "postgres://me@db/mirror"])).toEqual([]);
    expect(await warnings(["--base-url", "https://docs.example.org"])).toEqual([]);
  });

  it("is not warned of where the environment, .env or a file gives it", { tags: ["long"] }, async () => {
    const cwd = await mkdtemp(join(tmpdir(), "docmirror-secrets-"));
    const url = "postgres://me:hunter2@db/mirror";
    try {
      expect(await warnings([], { cwd, env: { DATABASE_URL: url } })).toEqual([]);
      writeFileSync(join(cwd, "url"), `${url}\n`);
      expect(await warnings([], { cwd, env: { DATABASE_URL_FILE: "url" } })).toEqual([]);
      writeFileSync(join(cwd, ".env"), "DATABASE_URL_FILE=url\n");
      expect(await warnings([], { cwd })).toEqual([]);
    } finally {
      await rm(cwd, { recursive: true, force: true });
    }
  });
});
