import { describe, expect, it } from "vitest";
import { hasTerminals, linesOf, runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { PLANTED_SECRET } from "../../support/planted-secret.ts";
import { createReportedMirror } from "../../support/reported-mirror.ts";

/** Port 1 answers on no machine that runs tests. */
const NOBODY = `postgres://someone:${PLANTED_SECRET}@127.0.0.1:1/none`;

const read = async (args: string[], env: Record<string, string>) => {
  const result = await runCli(args, { env });
  expect(result.stdout + result.stderr).not.toContain(PLANTED_SECRET);
  return result;
};

describe("DOCMIRROR_READ_URL", () => {
  it("is read alone: the database of the syncs need not answer", async () => {
    await using mirror = await createReportedMirror();
    const env = { DOCMIRROR_READ_URL: mirror.url, DATABASE_URL: NOBODY };
    const { code, stdout, stderr } = await read(["report", "freshness", "--json"], env);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout).rows[0]).toMatchObject({ resource: "build", replica_lag_s: null });
  });

  it.skipIf(!hasTerminals)("shows the replica's lag on a terminal", { tags: ["long"] }, async () => {
    await using mirror = await createReportedMirror();
    const headOf = async (name: string) => {
      const options = { terminalColumns: 80, env: { [name]: mirror.url } };
      return linesOf((await runCli(["report", "freshness"], options)).stdout)[0];
    };
    expect(await headOf("DOCMIRROR_READ_URL")).toMatch(/^resource +replica_lag_s +current_through +lag_s /);
    expect(await headOf("DATABASE_URL")).not.toContain("replica_lag_s");
  });

  it("is never written to, even where it could be", async () => {
    await using mirror = await createReportedMirror({ refreshed: false });
    const { code, stderr } = await read(["report", "runs"], { DOCMIRROR_READ_URL: mirror.url });
    expect(code).toBe(0);
    expect(stderr).toContain("a replica cannot be written to");
    expect(await mirror.sql`select from rollup.state`).toHaveLength(0);
  });

  it("leaves old answers with a warning when the primary does not answer", { tags: ["long"] }, async () => {
    await using mirror = await createReportedMirror({ refreshed: false });
    const env = { DOCMIRROR_READ_URL: mirror.url, DATABASE_URL: NOBODY };
    const { code, stderr } = await read(["report", "runs"], env);
    expect(code).toBe(0);
    expect(stderr).toContain("the primary did not refresh them");
  });

  it.each([
    ["report", "runs"],
    ["export", "--out", "exported"],
  ])("that nobody answers is named by %s with what to do, and without its password", async (...args) => {
    const { code, stderr } = await read(args, { DOCMIRROR_READ_URL: NOBODY });
    expect({ code, stderr }).toEqual({
      code: 4,
      stderr:
        "docmirror: could not read the replica: Cannot reach Postgres at 127.0.0.1:1\n" +
        "  start the replica, or correct host and port in DOCMIRROR_READ_URL; without that setting DATABASE_URL is read\n",
    });
  });

  it.each([
    ["report", "runs"],
    ["serve", "--http-port", "0"],
  ])("without our schema is no mirror to %s, and the hint names the setting", {
    tags: ["long"],
  }, async (...args) => {
    await using database = await createTestDatabase({ migrated: false });
    const { code, stderr } = await read(args, { DOCMIRROR_READ_URL: database.url });
    expect(code).toBe(7);
    expect(stderr).toMatch(/There is no mirror in the database \S+ yet/);
    expect(stderr).toContain("see DOCMIRROR_READ_URL,");
  });
});
