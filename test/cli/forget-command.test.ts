import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { setUpLoading } from "../support/loading.ts";
import { wireUser } from "../support/wire-records.ts";

const forget = (url: string, ...args: string[]) =>
  runCli(["forget", ...args], { env: { DATABASE_URL: url } });

describe("forget user", () => {
  it("says what it removed and what a backup still holds; --json is one document", {
    tags: ["long"],
  }, async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1", { username: "jane" })]);
    await loading.sql`update mirror.users set deleted_at = now()`;
    const dry = JSON.parse((await forget(loading.url, "user", "jane", "--dry-run", "--json")).stdout);
    expect(dry).toMatchObject({ dry_run: true, users: ["1"], shown: [], logs: null });
    const { code, stdout } = await forget(loading.url, "user", "jane", "--texts");
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^forgot user 1: 1 record, 0 changes, .*, 0 logs\nbackups, exports, .* make a new backup/,
    );
    expect(await forget(loading.url, "user", "jane")).toMatchObject({ code: 12 });
  });

  it("exits 2 for what is no user, and for one that the service still shows", {
    tags: ["long"],
  }, async () => {
    await using loading = await setUpLoading();
    await loading.load("user", [wireUser("1", { username: "jane" })]);
    expect((await forget(loading.url, "project", "jane")).code).toBe(2);
    const { code, stderr } = await forget(loading.url, "user", "jane");
    expect(code).toBe(2);
    expect(stderr).toContain("--force");
    expect((await forget(loading.url, "user", "jane", "--force")).stdout).toContain(
      "the service still shows user 1",
    );
  });
});
