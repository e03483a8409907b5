import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type CliOptions, runCli } from "../../support/cli.ts";
import { createFolder } from "../../support/folder.ts";
import { PLANTED_SECRET } from "../../support/planted-secret.ts";

const warnings = async (args: string[], options: CliOptions = {}) => {
  const { code, stderr } = await runCli(["config", ...args], options);
  expect(code).toBe(0);
  expect(stderr).not.toContain(PLANTED_SECRET);
  const lines = stderr.split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
};

describe("a password in a flag", () => {
  it.each([
    ["--database-url", `postgres://me:${PLANTED_SECRET}@db/mirror`, "DATABASE_URL"],
    ["--database-url", `postgres://me@db/mirror?password=${PLANTED_SECRET}`, "DATABASE_URL"],
    ["--read-url", `postgres://me:${PLANTED_SECRET}@db2/mirror`, "DOCMIRROR_READ_URL"],
    ["--database-password", PLANTED_SECRET, "DOCMIRROR_DATABASE_PASSWORD"],
    ["--base-url", `https://me:${PLANTED_SECRET}@docs.example.org`, "DOCMIRROR_BASE_URL"],
    ["--base-url", `https://${PLANTED_SECRET}@docs.example.org`, "DOCMIRROR_BASE_URL"],
  ])("%s is warned of once, with the way to give it", async (flag, url, name) => {
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
    using folder = createFolder();
    const cwd = folder.path;
    const url = `postgres://me:${PLANTED_SECRET}@db/mirror`;
    expect(await warnings([], { cwd, env: { DATABASE_URL: url } })).toEqual([]);
    writeFileSync(folder.at("url"), `${url}\n`);
    expect(await warnings([], { cwd, env: { DATABASE_URL_FILE: "url" } })).toEqual([]);
    const bare = ["--database-url", "postgres://me@db/mirror"];
    expect(await warnings(bare, { cwd, env: { DOCMIRROR_DATABASE_PASSWORD: PLANTED_SECRET } })).toEqual([]);
    writeFileSync(folder.at(".env"), "DATABASE_URL_FILE=url\n");
    expect(await warnings([], { cwd })).toEqual([]);
  });
});
