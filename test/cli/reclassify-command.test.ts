import { describe, expect, it } from "vitest";
import type { Sql } from "../../src/store/connection/sql.ts";
import { runCli } from "../support/cli.ts";
import { createReportedMirror } from "../support/reported-mirror.ts";

const readClasses = (sql: Sql) =>
  sql`select error_class, count(*)::int as failures from report.fact_builds where failed = 1 group by 1 order by 2 desc`;

describe("reclassify", () => {
  it("applies changed rules to what is stored; --dry-run counts alone", { tags: ["long"] }, async () => {
    await using database = await createReportedMirror();
    const reclassify = (...args: string[]) =>
      runCli(["reclassify", ...args], { env: { DATABASE_URL: database.url } });
    const before = await readClasses(database.sql);
    expect(before).toEqual([
      { error_class: "vcs", failures: 50 },
      { error_class: "unclassified", failures: 1 },
    ]);
    await database.sql`insert into report.error_rules (position, pattern, class) values (1, 'remote \\d*[05]$', 'tens'), (2, 'ünï', 'odd')`;

    const dry = await reclassify("--dry-run", "--json");
    const classes = [
      { class: "vcs", before: 50, after: 40 },
      { class: "tens", before: 0, after: 10 },
      { class: "odd", before: 0, after: 1 },
      { class: "unclassified", before: 1, after: 0 },
    ];
    expect(JSON.parse(dry.stdout)).toEqual({ dry_run: true, classes });
    expect(await readClasses(database.sql)).toEqual(before);

    const { code, stdout, stderr } = await reclassify();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.split("\n").map((line) => line.split(/ +/))).toEqual([
      ["class", "before", "now"],
      ["vcs", "50", "40"],
      ["tens", "0", "10"],
      ["odd", "0", "1"],
      ["unclassified", "1", "0"],
      [""],
    ]);
    const [vcs, tens] = await readClasses(database.sql);
    expect([vcs, tens]).toMatchObject([{ failures: 40 }, { error_class: "tens", failures: 10 }]);
    const { classes: again } = JSON.parse((await reclassify("--json")).stdout);
    for (const { before, after } of again) expect(after).toBe(before);
  });

  it("a pattern that is no regular expression gets into no rule", async () => {
    await using database = await createReportedMirror();
    const adding = database.sql`insert into report.error_rules (position, pattern, class) values (1, 'a(', 'x')`;
    await expect(adding).rejects.toMatchObject({ code: "2201B" });
  });
});
