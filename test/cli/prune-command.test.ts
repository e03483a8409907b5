import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { otherProcess } from "../support/leases.ts";
import { setUpLoading } from "../support/loading.ts";
import { wireUser } from "../support/wire-records.ts";

const prune = (url: string, ...args: string[]) => runCli(["prune", ...args], { env: { DATABASE_URL: url } });

async function setUpOldChanges() {
  const loading = await setUpLoading();
  for (const first_name of ["a", "b", "c", "d"]) await loading.load("user", [wireUser("1", { first_name })]);
  return loading;
}

describe("prune", () => {
  it("--dry-run counts; without it just that goes, while a run lives too", { tags: ["long"] }, async () => {
    await using loading = await setUpOldChanges();
    await using other = otherProcess(loading.url);
    const lock = await other.takeRun();
    try {
      const dry = await prune(loading.url, "--older-than", "400d", "--dry-run");
      expect(dry.stdout).toMatch(/^2 changes and 0 runs from before 20.*Z would be removed\n$/);
      expect(await loading.sql`select 1 from mirror.changes`).toHaveLength(3);
      const { code, stdout } = await prune(loading.url, "--older-than", "400d");
      expect(code).toBe(0);
      expect(stdout).toMatch(/^2 changes and 0 runs from before \S+ removed\n.* history begins at 20/);
    } finally {
      await lock.release();
    }
    expect(await loading.sql`select after from mirror.changes`).toEqual([{ after: { first_name: "d" } }]);
  });

  it("--json is one document", { tags: ["long"] }, async () => {
    await using loading = await setUpOldChanges();
    const first = JSON.parse((await prune(loading.url, "--older-than", "1d", "--json", "--dry-run")).stdout);
    expect(first).toMatchObject({ dry_run: true, changes: 2, runs: 0, history_begins_at: null });
    const then = JSON.parse((await prune(loading.url, "--older-than", "1d", "--json")).stdout);
    expect(then).toMatchObject({ dry_run: false, changes: 2, runs: 0, horizon: expect.stringMatching(/Z$/) });
    expect(Date.parse(then.history_begins_at)).toBe(Date.parse(then.horizon));
  });

  it.each([
    [[], "--older-than"],
    [["--older-than", "400"], "is not a time with its unit"],
    [["--older-than", "0d"], "is not longer than zero"],
    [["--older-than", "900000w"], "longer than 100 years"],
    [["--logs-older-than", "400d"], "need each other"],
    [["--older-than", "400d", "--logs-export", "/logs"], "need each other"],
  ])("%j exits 2 and says what is wrong", async (args, fault) => {
    const { code, stdout, stderr } = await prune("postgres://127.0.0.1:1/x", ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(fault);
  });
});
