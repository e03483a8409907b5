import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findLibpqDefaults } from "../../../src/base/config/environment.ts";
import { type Config, defaultValues } from "../../../src/base/config.ts";
import { completeUrls } from "../../../src/cli/context/run-command.ts";
import { type CliOptions, runCli } from "../../support/cli.ts";
import { createFolder, useFolder } from "../../support/folder.ts";
import { PLANTED_SECRET } from "../../support/planted-secret.ts";
import { useDatabase } from "../../support/use-database.ts";

const ROLE = `docmirror_test_${randomBytes(6).toString("hex")}`;

const folder = useFolder("docmirror-password-");
const database = useDatabase();
const { sql } = database;
beforeAll(() => sql.unsafe(`create role ${ROLE} login in role pg_read_all_data`));
afterAll(() => sql.unsafe(`drop role ${ROLE}`));

const urlWith = (password: string) => Object.assign(new URL(database.url), { username: ROLE, password }).href;

/** What `docmirror migrate --status` gives for the role, whose URL has no password. */
async function lookWith(env: Record<string, string>) {
  const options = { env: { DATABASE_URL: urlWith(""), ...env } };
  const { code, stderr, stdout } = await runCli(["migrate", "--status"], options);
  return { code, text: stdout + stderr };
}

async function setPassword(password: string): Promise<void> {
  const [quoted] = await sql<{ text: string }[]>`select quote_literal(${password}) as text`;
  await sql.unsafe(`alter role ${ROLE} password ${quoted?.text}`);
  const [stored] = await sql<{ method: string }[]>`
    select split_part(rolpassword, '$', 1) as method from pg_authid where rolname = ${ROLE}`;
  expect(stored?.method).toBe("SCRAM-SHA-256");
}

describe("a password apart from the URL", () => {
  it.each([
    ["quotes, backslashes and dollars", `'"\\\\$HOME\`id\``],
    ["what has a meaning in a URL", "p@ss:w/o?r#d&x=1%41+%zz"],
    ["blanks at both ends", "  two  words  "],
    ["letters beyond ASCII", "Grüße, 世界 😀"],
  ])("opens the database from a file, with %s", { tags: ["long"] }, async (_what, password) => {
    await setPassword(password);
    const path = folder.at("password");
    writeFileSync(path, `${password}\n`);
    expect(await lookWith({ DOCMIRROR_DATABASE_PASSWORD_FILE: path })).toMatchObject({ code: 0 });
    // A server that lets everyone in would show nothing.
    const refused = await lookWith({ DOCMIRROR_DATABASE_PASSWORD: `${password}x` });
    expect(refused.code).toBe(4);
    expect(refused.text).not.toContain(password.trim());
  });

  it("goes into the URL of the replica too, and into none where there is none", async () => {
    const own = { databasePassword: "it's", databaseUrl: "postgres://me@a/m" };
    const given = { ...defaultValues(), ...own } as Config;
    expect(await completeUrls({ ...given, readUrl: "postgres://me@b,c:1/m" })).toMatchObject({
      databaseUrl: "postgres://me@a/m?password=it's",
      readUrl: "postgres://me@b,c:1/m?password=it's",
    });
    expect((await completeUrls({ ...given, databaseUrl: null })).databaseUrl).toBeNull();
  });

  it("comes from the variables of libpq last, as does what they say of TLS", async () => {
    const given = {
      ...defaultValues(),
      databaseUrl: "postgres://a/m",
      readUrl: "postgres://me:mine@b/m",
    } as Config;
    const env = {
      PGUSER: "you",
      PGPASSWORD: "it's",
      PGSSLMODE: "verify-full",
      PGSSLROOTCERT: "",
      PGHOST: "c",
    };
    const defaults = findLibpqDefaults(env);
    expect(await completeUrls(given, defaults)).toMatchObject({
      databaseUrl: "postgres://a/m?user=you&password=it's&sslmode=verify-full",
      readUrl: "postgres://me:mine@b/m?sslmode=verify-full",
    });
    const own = await completeUrls({ ...given, databasePassword: "own" }, defaults);
    expect(own.databaseUrl).toContain("password=own");
  });

  it("gives way to one in the URL", async () => {
    await setPassword("right");
    const env = { DATABASE_URL: urlWith("right"), DOCMIRROR_DATABASE_PASSWORD: "wrong" };
    expect(await lookWith(env)).toMatchObject({ code: 0 });
  });
});

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
        flag,
        hint: `give it by ${name}, or by the file that ${name}_FILE names`,
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
