import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import type { TestDatabase } from "../support/database.ts";
import { createToldBuild } from "../support/told-build.ts";

const explain = ({ url }: TestDatabase, id: string, ...args: string[]) =>
  runCli(["explain", "build", id, "--source-timezone", "America/Chicago", ...args], {
    env: { DATABASE_URL: url },
  });

describe("explain build", () => {
  it("tells its life, 80 columns wide, with the rule of each bound", { tags: ["long"] }, async () => {
    await using told = await createToldBuild();
    const { code, stdout, stderr } = await explain(told, "42");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(Math.max(...stdout.split("\n").map(({ length }) => length))).toBeLessThanOrEqual(80);
    const [facts, ...rest] = stdout.split("\n\n");
    expect(facts).toBe(`\
build 42: finished, failure, html (times in UTC)
  project    7, pip
             /api/v1/project/7/ as sent
  version    not here: the service has no such record, asked 2025-06-02 10:05:00
             /api/v1/version/9/ as sent
  date       2025-06-02T05:00:00 as sent, without a zone
             2025-06-02 10:00:00, read in America/Chicago
  first seen 2025-06-02 10:00:30
  changed    last at 2025-06-02 10:07:01
  took       5 min 30 s to 7 min 1 s from the trigger to the finish`);
    expect(rest[0]).toBe(`\
1. first seen triggered
  after      2025-06-02 10:00:00
             the build's own date
  by         2025-06-02 10:00:30
             when the first reply that showed it arrived
             run 1 (full, began 2025-06-02 10:00:00)
             GET /api/v1/build/?format=json&limit=20
  within     30.0 s
  lasted     1 min 30 s to 3 min 0 s, until it became building`);
    expect(rest[1]).toContain(`\
2. triggered → building
  after      2025-06-02 10:02:00
             when the last request that showed it triggered was sent
             run 3 (watch, began 2025-06-02 10:02:00)
             GET /api/v1/build/42/
  by         2025-06-02 10:03:00.25`);
    expect(rest[2]).toContain("  odd        backward: the service returned it to an earlier state");
    expect(rest[3]).toContain("run 99 (pruned)");
    expect(rest[4]).toBe(`\
changes (4)
  updated    2025-06-02 10:03:00.25, run 4
             state: "triggered" → "building"
  updated    2025-06-02 10:07:01, run 99
             state: "triggered" → "finished"
             output: 0 bytes, md5 d41d8cd9 → 3 bytes, md5 90015098
  deleted    2025-06-09 02:17:00, run 99
  restored   2025-06-10 02:17:00, run 99`);
    expect(rest[5]).toBe(`\
quarantine (1)
  row 1      2025-06-02 10:03:10, run 4, resolved 2025-06-02 10:04:10
             could not store build 42
             GET /api/v1/build/?format=json&limit=20
`);
  });

  it("--json has all of it as one document", async () => {
    await using told = await createToldBuild();
    const { code, stdout } = await explain(told, "42", "--json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      build: {
        id: "42",
        date_read: { zone: "America/Chicago", earliest: "2025-06-02 10:00:00+00" },
        duration: { least_ms: 330_000, most_ms: 421_000 },
        transitions: [{ rule: "date" }, { rule: "last_seen" }, { anomalies: ["backward"] }, { seq: 4 }],
        references: [{ status: "found" }, { status: "gone" }],
        changes: [{ kind: "updated" }, { kind: "updated" }, { kind: "deleted" }, { kind: "restored" }],
      },
      quarantine: [{ id: 1 }],
    });
  });

  it("tells of an open build that vanished, of a long history the newest", { tags: ["long"] }, async () => {
    await using told = await createToldBuild();
    await told.sql`update mirror.builds set state = 'building', deleted_at = '2025-06-09 02:17Z'`;
    await told.sql`insert into sync.open_builds (build_id, since, seen_at, run_id, request, vanished_at)
        values ('42', '2025-06-02 10:04:01Z', '2025-06-02 10:08Z', 9, '/api/v1/build/42/', '2025-06-02 10:08:02Z')`;
    await told.sql`insert into sync.prunings (horizon, pruned_at, changes, runs) values ('2025-06-05Z', now(), 3, 0)`;
    await told.sql`insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after)
        select 'build', '42', 9, '2025-07-01Z', 'updated', '{"success": true}', '{"success": false}' from generate_series(1, 30)`;
    const { code, stdout } = await explain(told, "42");
    expect(code).toBe(0);
    expect(stdout).toContain("build 42: building, html, deleted (times in UTC)");
    expect(stdout).toMatch(/^ {2}pruned {5}changes before 2025-06-05 00:00:00$/m);
    expect(stdout).toMatch(/^ {2}open {7}in its state since 2025-06-02 10:04:01$/m);
    expect(stdout).toMatch(/^ {2}last seen {2}2025-06-02 10:08:00, when the request was sent$/m);
    expect(stdout).toMatch(/^ {2}vanished {3}2025-06-02 10:08:02: its detail answered that it is gone;/m);
    expect(stdout).not.toMatch(/^ {2}took/m);
    expect(stdout).toMatch(/^changes \(34\)\n {13}14 earlier changes are left out; --json has all$/m);
    expect(stdout.match(/^ {2}updated/gm)).toHaveLength(20);
  });

  it("prints nothing that a terminal would obey", { tags: ["long"] }, async () => {
    await using told = await createToldBuild();
    const evil = "\u001b[2J\u202e\u009b";
    await told.sql`update mirror.builds set state = ${evil}, type = ${evil}, project_uri = ${evil}`;
    await told.sql`update mirror.build_transitions set to_state = ${evil}, request = ${evil}, anomaly = ${evil}`;
    await told.sql`update mirror.projects set slug = ${evil}`;
    await told.sql`update sync.quarantine set reason = ${evil}`;
    await told.sql`update mirror.changes set before = ${JSON.stringify({ [evil]: evil })}::text::jsonb`;
    for (const args of [[], ["--json"]]) {
      const { code, stdout } = await explain(told, "42", ...args);
      expect(code).toBe(0);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
      expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    }
  });

  it("of an unknown id says so and exits 12", { tags: ["long"] }, async () => {
    await using told = await createToldBuild();
    const plain = await explain(told, "43");
    const json = await explain(told, "43", "--json");
    expect(plain).toMatchObject({ code: 12, stdout: "" });
    expect(plain.stderr).toBe(
      'docmirror: the mirror has no build 43\n  check whether the service has it: `docmirror get build "43"`\n',
    );
    expect(json).toMatchObject({ code: 12, stderr: plain.stderr });
    expect(JSON.parse(json.stdout)).toEqual({ build: null, quarantine: [] });
    expect(await explain(told, "\u001b[2J")).toMatchObject({
      code: 12,
      stderr: expect.stringContaining("no build ␛[2J\n"),
    });
  });

  it("of an id that is in quarantine says why it could not be stored", async () => {
    await using told = await createToldBuild();
    const { code, stderr } = await explain(told, "44");
    expect(code).toBe(12);
    expect(stderr).toMatch(/no build 44: .* could not store build 44\n.*docmirror quarantine/);
  });
});
