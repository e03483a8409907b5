import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Config, defaultValues } from "../../../src/base/config.ts";
import { fillInPassword } from "../../../src/cli/context/run-command.ts";
import { runCli } from "../../support/cli.ts";
import { useFolder } from "../../support/folder.ts";
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
    expect(await fillInPassword({ ...given, readUrl: "postgres://me@b,c:1/m" })).toMatchObject({
      databaseUrl: "postgres://me:it's@a/m",
      readUrl: "postgres://me:it's@b,c:1/m",
    });
    expect((await fillInPassword({ ...given, databaseUrl: null })).databaseUrl).toBeNull();
  });

  it("gives way to one in the URL", async () => {
    await setPassword("right");
    const env = { DATABASE_URL: urlWith("right"), DOCMIRROR_DATABASE_PASSWORD: "wrong" };
    expect(await lookWith(env)).toMatchObject({ code: 0 });
  });
});
