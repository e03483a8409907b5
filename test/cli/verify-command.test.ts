import { beforeAll, describe, expect, it } from "vitest";
import { QUIET } from "../../src/simulate/settings.ts";
import { runCli } from "../support/cli.ts";
import { useService } from "../support/service.ts";
import { useDatabase } from "../support/use-database.ts";

const service = useService({
  users: 4,
  projects: 4,
  versions: 6,
  files: 4,
  builds: 12,
  rates: QUIET,
  hiddenShare: 0,
  stuckShare: 0,
});
const database = useDatabase();
const run = (line: string) =>
  runCli(line, { env: { DATABASE_URL: database.url, DOCMIRROR_BASE_URL: service.url, DOCMIRROR_RATE: "0" } });

beforeAll(async () => {
  expect((await run("sync")).code).toBe(0);
});

describe("verify", () => {
  it("ends with a true sentence, and a line for each list", async () => {
    const { code, stdout } = await run("verify --sample 60 --wait 0s");
    expect(code).toBe(0);
    expect(stdout).toContain(
      "\n30 of 30 are equal; with 95 % confidence fewer than 9.6 % of 30 records differ in a field, " +
        "fewer than 9.6 % are missing here, fewer than 9.6 % are here and not there (Clopper–Pearson, each by itself)\n",
    );
    expect(stdout).toMatch(/^user: /m);
    expect(stdout).toMatch(/not seen: .*\n$/);
  });

  it("names what is wrong with both values, and exits 3; status, the metrics and the next check know it", {
    tags: ["long"],
  }, async () => {
    const { sql } = database;
    const [{ id } = { id: "" }] = await sql<{ id: string }[]>`
      update mirror.builds set type = 'pdf\u202e' where id = (select max(id) from mirror.builds) returning id`;
    const { code, stdout } = await run("verify --sample 100 --wait 0s --resource build");
    expect([code, stdout]).toEqual([3, expect.stringMatching(new RegExp(`^wrong: build ${id}: `, "m"))]);
    expect(stdout).toMatch(/^ {2}type: "html" there, "pdf\ufffd" here$/m);
    expect(stdout).toMatch(
      /^11 of 12 are equal, 1 are wrong; with 95 % confidence fewer than 33\.\d % of 12 records/m,
    );
    const json = JSON.parse((await run("verify --sample 1 --wait 0s --json")).stdout);
    expect(json).toMatchObject({ wrong: 1, found: [{ resource: "build", id, verdict: "wrong" }] });
    expect(json.lists.map(({ resource }: { resource: string }) => resource)).toContain("file");
    const status = await run("status");
    expect(status.stdout).toMatch(
      new RegExp(`^checked: \\d+ of \\d+ records equal in 1 night; build ${id} is wrong \\(type\\)$`, "m"),
    );
    expect(
      await sql`select checked > checked_equal as is, wrong from report.freshness where resource = 'build'`,
    ).toEqual([{ is: true, wrong: 1 }]);
    // As docs/operations.md has it.
    await sql`update mirror.builds set record_hash = '' where id = ${id}`;
    await sql`delete from sync.pages`;
    expect((await run("sync --full")).code).toBe(0);
    expect((await run("status")).stdout).not.toContain("is wrong");
  });

  it("asks nothing where the mirror is of another service", async () => {
    const { code, stderr } = await run("verify --base-url http://127.0.0.1:9/");
    expect([code, stderr]).toEqual([2, expect.stringContaining("this mirror is of")]);
  });
});
