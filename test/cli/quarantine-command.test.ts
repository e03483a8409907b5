import { describe, expect, it } from "vitest";
import { quarantineHole } from "../../src/mirror/load/quarantine.ts";
import { runCli } from "../support/cli.ts";
import { setUpLoading } from "../support/loading.ts";
import { wireBuild, wireUser } from "../support/wire-records.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/;
const MONDAY = "2024-05-13T02:00:00.000Z";

const quarantine = (url: string, ...args: string[]) =>
  runCli(["quarantine", "--base-url", "http://service.invalid", ...args], { env: { DATABASE_URL: url } });

/** A build that a rule of the database refuses, a user without an id, and a hole in the list of files. */
async function setUpQuarantine(long = "") {
  const loading = await setUpLoading();
  const { sql } = loading;
  await sql`alter table mirror.builds add constraint no_shoes check (extra->'values'->'shoes' is null)`;
  await loading.load("build", [wireBuild("1\u001b[2J", { shoes: "\u009b31m\u202e" })]);
  await loading.load("user", [{ username: `nobody${long}` }]);
  const hole = { resource: "file" as const, runId: 1, request: "/api/v1/file/?limit=1", observedAt: MONDAY };
  await quarantineHole(sql, { ...hole, offset: 41, reason: "GET answered 500" });
  return loading;
}

describe("quarantine", () => {
  it("lists what is there, newest first, payloads shortened, or whole as one document, and nothing that a terminal would obey", async () => {
    await using loading = await setUpQuarantine("x".repeat(1000));
    const { code, stdout } = await quarantine(loading.url);
    expect(code).toBe(0);
    const [, hole, user, build, , ...rest] = stdout.split("\n");
    expect(hole).toMatch(/^ *3 +file +at offset 41 .*GET answered 500 +none: the next sync asks again$/);
    expect(user).toMatch(/^ *2 +user .* no id that can be stored +\{"username": "nobodyx+…$/);
    expect(build).toMatch(/^ *1 +build +1␛\[2J .*could not store build 1␛\[2J: .*no_shoes/);
    expect(rest.join("\n")).toMatch(/^2 records and 1 hole in lists\n`docmirror quarantine --retry` tries/);
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThan(300);
    expect(stdout).not.toMatch(UNSAFE);

    const json = (await quarantine(loading.url, "--json")).stdout;
    const told = JSON.parse(json);
    expect(told).toMatchObject({ records: 2, holes: 1 });
    expect(told.quarantine).toMatchObject([
      { id: 3, resource: "file", list_offset: 41, payload: null, request: "/api/v1/file/?limit=1" },
      { id: 2, resource: "user", record_id: null, payload: { username: `nobody${"x".repeat(1000)}` } },
      { id: 1, record_id: "1\u001b[2J", payload: { shoes: "\u009b31m\u202e" }, resolved_at: null, run_id: 1 },
    ]);
    expect(json).not.toMatch(UNSAFE);
  });

  it("lists one resource, and resolved records, where that is asked", { tags: ["long"] }, async () => {
    await using loading = await setUpQuarantine();
    await loading.sql`update sync.quarantine set resolved_at = ${MONDAY} where id = 1`;
    const ids = async (...args: string[]) => {
      const told = JSON.parse((await quarantine(loading.url, "--json", ...args)).stdout);
      return told.quarantine.map(({ id }: { id: number }) => id);
    };
    expect(await ids()).toEqual([3, 2]);
    expect(await ids("--all", "--resource", "build")).toEqual([1]);
    const { stdout } = await quarantine(loading.url, "--limit", "1", "--all");
    expect(stdout).toContain("2 records and 1 hole in lists, resolved ones too (the newest 1 are shown");
  });

  it("--retry stores what it can and exits 3, or 0 when nothing stays", { tags: ["long"] }, async () => {
    await using loading = await setUpQuarantine();
    await loading.sql`alter table mirror.builds drop constraint no_shoes`;
    const first = await quarantine(loading.url, "--retry");
    expect(first.code).toBe(3);
    expect(first.stdout).toMatch(/^1 record stored, 0 superseded .*, 1 still refused\n.*\n1 hole in lists:/);
    expect(await loading.sql`select id from mirror.builds`).toEqual([{ id: "1\u001b[2J" }]);
    await loading.sql`delete from sync.quarantine where resource <> 'build'`;
    await loading.load("user", [wireUser("1")]);
    const last = await quarantine(loading.url, "--retry", "--json");
    expect(last.code).toBe(0);
    expect(JSON.parse(last.stdout)).toMatchObject({ stored: 0, superseded: 0, refused: 0, holes: 0 });
  });

  it("--retry with --all exits 2: there is nothing to try again of what was resolved", async () => {
    const { code, stderr } = await quarantine("postgres://127.0.0.1:1/x", "--retry", "--all");
    expect(code).toBe(2);
    expect(stderr).toContain("--all");
  });
});
