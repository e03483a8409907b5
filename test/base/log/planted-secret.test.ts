import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../../support/cli.ts";
import { useFolder } from "../../support/folder.ts";
import { findPlantedSecret, PLANTED_KEY, PLANTED_SECRET } from "../../support/planted-secret.ts";
import { startScriptedServer } from "../../support/scripted-server.ts";
import { useDatabase } from "../../support/use-database.ts";

const LOGIN = `me:${PLANTED_SECRET}@`;
const NOBODY = "127.0.0.1:1";
const ALL = {
  DATABASE_URL: `postgres://${LOGIN}${NOBODY}/mirror`,
  DOCMIRROR_DATABASE_PASSWORD: PLANTED_SECRET,
  DOCMIRROR_READ_URL: `postgres://${LOGIN}${NOBODY}/replica?password=${PLANTED_SECRET}`,
  DOCMIRROR_BASE_URL: `http://${LOGIN}${NOBODY}/`,
  DOCMIRROR_WEBHOOK_URL: `http://${NOBODY}/hooks/${PLANTED_SECRET}`,
  DOCMIRROR_WEBHOOK_SECRET: PLANTED_KEY,
  DOCMIRROR_LOG_LEVEL: "trace",
  DOCMIRROR_RETRIES: "0",
  HTTP_PROXY: `http://${LOGIN}${NOBODY}`,
  HTTPS_PROXY: `http://${LOGIN}${NOBODY}`,
};

const database = useDatabase();
const folder = useFolder("docmirror-planted-");
beforeAll(() => writeFileSync(folder.at("password"), PLANTED_SECRET));

describe("a planted secret", () => {
  it.each([
    ["plain", `x${PLANTED_SECRET}y`],
    ["in the key of a webhook", PLANTED_KEY],
    ...["", "m", "me", "you"].map((user) => [
      `in the login of ${user}`,
      `Basic ${Buffer.from(`${user}:${PLANTED_SECRET}`).toString("base64")}`,
    ]),
  ])("is found %s, and not shown by that", (_how, text) => {
    const around = findPlantedSecret(text) ?? "";
    expect(around).toContain("<HERE>");
    expect(findPlantedSecret(around)).toBeNull();
  });

  it("fails the process that prints it", async () => {
    const args = ["get", "file", "--search", PLANTED_SECRET, "--base-url", `http://${NOBODY}`, "--verbose"];
    await expect(runCli([...args, "--retries", "0"])).rejects.toThrow(/printed a planted secret/);
  });
});

// `runCli` looks for the planted secrets in all that is printed.
describe("no secret is printed", () => {
  it.each([
    [["config"], 0],
    [["config", "--json"], 0],
    [["doctor"], 4],
    [["doctor", "--json", "--verbose"], 4],
    [["status", "--verbose"], 4],
    [["explain", "build", "1", "--verbose"], 4],
    [["report", "freshness", "--verbose"], 4],
    [["sync", "--verbose"], 4],
    [["watch", "--once", "--verbose"], 4],
    [["migrate", "--verbose"], 4],
    [["prune", "--older-than", "400d", "--verbose"], 4],
    [["quarantine", "--verbose"], 4],
    [["get", "--verbose"], 5],
    [["get", "project", "pip", "--search", "x", "--verbose"], 5],
    [["sync", "--verbose", "--log-format", "pretty"], 4],
  ])("by %j where everything is away", async (args, code) => {
    const { code: exit, stderr } = await runCli(args, { env: ALL });
    expect({ exit, stderr }).toMatchObject({ exit: code });
  });

  it.each([
    ["DATABASE_URL", `postgres://${LOGIN}[bad/x`],
    ["DATABASE_URL", `mysql://${LOGIN}db/x`],
    ["DATABASE_URL", `postgres://${LOGIN}db:notaport/x`],
    ["DATABASE_URL", `host=db password=${PLANTED_SECRET}`],
    ["DOCMIRROR_BASE_URL", `ftp://${LOGIN}docs.example.org`],
    ["DOCMIRROR_BASE_URL", `https://${LOGIN}[bad`],
    ["DOCMIRROR_BASE_URL", `https://docs.example.org/?token=${PLANTED_SECRET}`],
    ["DOCMIRROR_WEBHOOK_SECRET", PLANTED_SECRET],
    ["DOCMIRROR_WEBHOOK_SECRET", PLANTED_KEY.slice(0, 40)],
    ["DOCMIRROR_WEBHOOK_URL", `hooks.example.org/${PLANTED_SECRET}`],
    ["HTTP_PROXY", `socks5://${LOGIN}proxy:1`],
    ["HTTPS_PROXY", `http://${LOGIN}[bad`],
  ])("where %s cannot be used", async (name, value) => {
    for (const args of [["config"], ["doctor"], ["get", "--verbose"]]) {
      const env = { DOCMIRROR_BASE_URL: "http://127.0.0.1:1", DOCMIRROR_RETRIES: "0", [name]: value };
      expect((await runCli(args, { env })).code).not.toBe(1);
    }
  });

  it.each([
    ["a line of .env with a wrong name", `DOCMIRROR_WEBHOOK_SECRTE=${PLANTED_KEY}`],
    ["a line of .env that is none", `DATABASE_URL postgres://${LOGIN}db/x`],
    ["one that is repeated", `DATABASE_URL=postgres://${LOGIN}db/x\nDATABASE_URL=mysql://${LOGIN}db/x`],
  ])("from %s", async (_which, text) => {
    const cwd = mkdtempSync(folder.at("env-"));
    writeFileSync(join(cwd, ".env"), `${text}\n`);
    for (const args of [["config"], ["status", "--verbose"]])
      expect((await runCli(args, { cwd, env: { DATABASE_URL: ALL.DATABASE_URL } })).code).not.toBe(1);
  });

  const flags = ["--database-url", "--read-url", "--webhook-secret", "--data-bas-url"];
  it.each(flags)("from the flag %s", async (flag) => {
    for (const args of [["config"], ["sync"]])
      expect((await runCli([...args, flag, `postgres://${LOGIN}${NOBODY}/x`])).code).not.toBe(1);
  });

  it("by a database that refuses the password, from a file or a URL", async () => {
    const url = new URL(database.url);
    url.password = `${PLANTED_SECRET}-wrong`;
    const byUrl = await runCli(["status", "--verbose"], { env: { DATABASE_URL: url.href } });
    url.password = "";
    const env = { DATABASE_URL: url.href, DOCMIRROR_DATABASE_PASSWORD_FILE: folder.at("password") };
    const byFile = await runCli(["config", "--json"], { env });
    expect([byUrl.code, byFile.code]).toEqual([4, 0]);
  });

  it("by errors of the database: with a statement, its parameters and its notices", async () => {
    const env = { ...ALL, DATABASE_URL: database.url, DOCMIRROR_READ_URL: database.url };
    for (const args of [
      ["report", "fact_builds", "--project", "x", "--since", "yesterday-ish", "--verbose"],
      ["grant-reader", "pg_bad", "--verbose"],
      ["sync", "--verbose", "--log-level", "trace"],
    ]) {
      const { code } = await runCli(args, { env });
      expect([2, 4, 5]).toContain(code);
    }
  });

  it("where the service or a proxy sends our own login back", { tags: ["long"] }, async () => {
    await using server = await startScriptedServer(({ path, headers }) => {
      const body = `not for ${headers.authorization ?? headers["proxy-authorization"]}, that is ${PLANTED_SECRET}`;
      const status = path.includes("/api/v1/") ? 500 : Number(/\d+/.exec(path)?.[0] ?? 500);
      return { status, body, headers: { "content-type": "text/plain" } };
    });
    const at = server.url.host;
    const env = { ...ALL, DATABASE_URL: database.url, HTTP_PROXY: "", HTTPS_PROXY: "" };
    for (const DOCMIRROR_BASE_URL of [`http://${LOGIN}${at}`, `http://${PLANTED_SECRET}@${at}`])
      for (const args of [["get", "--verbose"], ["sync", "--verbose"], ["doctor"]])
        expect((await runCli(args, { env: { ...env, DOCMIRROR_BASE_URL } })).code).not.toBe(1);
    const proxied = { DOCMIRROR_BASE_URL: "http://docs.example.invalid", HTTP_PROXY: `http://${LOGIN}${at}` };
    expect((await runCli(["get", "--verbose"], { env: { ...env, ...proxied } })).code).toBe(5);
  });
});
