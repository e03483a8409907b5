import { sql } from "drizzle-orm";
import { describe, expect, it } from "vitest";
import { ConfigError } from "../../src/base/errors.ts";
import {
  type AnswerFilters,
  ask,
  askFor,
  inline,
  onPage,
  pick,
  relation,
  where,
} from "../../src/report/ask.ts";
import { columnsOf, DICTIONARY, RELATIONS } from "../../src/report/dictionary.ts";

const MIDNIGHT = "T00:00:00.000Z";

function conditionOf(relation: (typeof RELATIONS)[number], filters: AnswerFilters) {
  const { text, params } = askFor(relation, filters);
  return [/where (.*)\norder by/s.exec(text)?.[1], ...params];
}

describe("askFor", () => {
  it("names the columns, holds values as parameters, and writes them in for people", () => {
    const { text, params, readable } = askFor("success_rate_by_type", { type: "it's $1 \\", limit: 5 });
    expect(text).toBe(`\
select type, builds, finished, succeeded, failed, success_rate, success_rate_low, success_rate_high,
       success_rate_project_mean, projects, unfinished, cancelled
from report.success_rate_by_type
where type = $1
order by success_rate_high nulls last, finished desc, type
limit $2`);
    expect(params).toEqual(["it's $1 \\", 5]);
    expect(readable).toContain("where type = E'it''s $1 \\\\'\n");
    expect(readable).toMatch(/\nlimit 5;\n$/);
  });

  it("gives each relation an order without ties, and asks for every column of the dictionary", () => {
    for (const relation of RELATIONS) {
      const { text, columns } = askFor(relation);
      expect(columns).toEqual(columnsOf(relation));
      expect(text).toMatch(/\norder by \S/);
    }
  });

  it("has for each relation a choice of its columns that answer it", () => {
    for (const relation of RELATIONS) {
      const { answer } = DICTIONARY[relation];
      expect(columnsOf(relation)).toEqual(expect.arrayContaining([...answer]));
      expect(new Set(answer).size).toBe(answer.length);
    }
  });

  it.each([
    ["success_rate_daily", "2026-11-03", "2026-11-04", "2026-11-03", "2026-11-05"],
    ["success_rate_daily", "2026-11-03T12:00Z", "2026-11-04T00:00:00Z", "2026-11-03", "2026-11-04"],
    ["success_rate_daily", "2026-11-03T23:00-02:00", "2026-11-04 12:00", "2026-11-04", "2026-11-05"],
    ["success_rate_daily", "1969-12-31T12:00Z", "1970-01-01", "1969-12-31", "1970-01-02"],
    [
      "incident_hours",
      "2026-11-03T12:45Z",
      "2026-11-03",
      "2026-11-03T12:00:00.000Z",
      `2026-11-04${MIDNIGHT}`,
    ],
    ["runs", "2026-11-03T12:45:00.5+01", "2026-12-31", "2026-11-03T11:45:00.500Z", `2027-01-01${MIDNIGHT}`],
  ] as const)("%s since %s until %s is from %s, before %s", (relation, since, until, from, before) => {
    expect(conditionOf(relation, { since, until }).slice(1)).toEqual([from, before]);
  });

  it("asks builds for their day, by which there is an index, and for the moment where that is not enough", () => {
    expect(conditionOf("fact_builds", { since: "2026-11-03", until: "2026-11-04T12:00Z" })).toEqual([
      "triggered_on >= $1::date\n  and triggered_on < $2::date\n  and triggered_at < $3::timestamptz",
      "2026-11-03",
      "2026-11-05",
      "2026-11-04T12:00:00.000Z",
    ]);
  });

  it("writes by their numbers what a terminal or a browser would obey", () => {
    const { readable } = askFor("dim_projects", { project: "\u202egpj\u001b[2J" });
    expect(readable).toContain("where project_slug = E'\\u202egpj\\u001b[2J'\n");
  });

  it("takes conditions beside the filters, with values of their own", () => {
    const also = [sql`build_id = ${"4'2"}`, sql`failed = 1`];
    const { text, readable } = askFor("fact_builds", { type: "html", limit: 1 }, also);
    expect(text).toContain("where type = $1\n  and build_id = $2\n  and failed = 1\norder by");
    expect(readable).toContain("and build_id = '4''2'");
  });

  it("finds the versions of a project by its slug, though they have but its id", () => {
    expect(conditionOf("dim_versions", { project: "pip" })).toEqual([
      "project_id in (select project_id from report.dim_projects where project_slug = $1)",
      "pip",
    ]);
  });

  it.each([
    ["success_rate_daily", { project: "pip" }, "cannot be narrowed by project", "by since, until, limit"],
    ["error_rules", { type: "html", since: "2026-11-03" }, "narrowed by type, since", "be narrowed by limit"],
    ["success_rate_by_project", { since: "2026-11-03" }, "narrowed by since", "narrowed by project, limit"],
    ["runs", { since: "yesterday" }, "since yesterday: give a day (2026-11-03), a time", "in UTC"],
    ["runs", { until: "2026-02-30" }, "until 2026-02-30: give a day", "in UTC"],
    ["runs", { until: "2026-02-03T25:00Z" }, "until 2026-02-03T25:00Z: give a day", "in UTC"],
    ["runs", { since: "2026-11-03", until: "2026-11-02" }, "is not after since", "swap"],
    ["runs", { limit: 1.5 }, "limit is not a whole number: 1.5", ""],
    ["fact_builds", { project: "a\0b" }, "project contains a character", ""],
  ] as const)("%s with %j is refused", (relation, filters, message, hint) => {
    const asked = () => askFor(relation, filters);
    expect(asked).toThrow(ConfigError);
    expect(asked).toThrow(message);
    if (hint !== "") expect(asked).toThrow(expect.objectContaining({ hint: expect.stringContaining(hint) }));
  });
});

describe("ask", () => {
  it("writes relations and columns by their bare names, values as parameters, and numbers of ours as they are", () => {
    const build = relation("fact_builds");
    const other = relation("fact_builds", "other");
    const { text, params, readable } = ask`
select ${pick(build, "build_id", "type")}
from ${other}${where(sql`${other.type} = ${"html"}`, false, sql`${build.failed} = 1`)}
limit ${inline(5)}`;
    expect([text, params]).toEqual([
      "select build_id, type\nfrom report.fact_builds as other\nwhere other.type = $1\n  and failed = 1\nlimit 5",
      ["html"],
    ]);
    expect(readable).toBe(`${text.replace("$1", "'html'")};\n`);
    expect(where()).toBeUndefined();
    // @ts-expect-error no relation has this column, so a statement with it does not compile
    expect(build.misspelt).toBeUndefined();
  });

  it("leaves what only a page has out of the whole statement and of the shown one, however deep it is", () => {
    const project = relation("dim_projects");
    const list = sql`select ${project.project_slug}${onPage`, count(*) over () as total`} from ${project}
where ${project.project_slug} > ${"a"} limit ${inline(9)}${onPage` offset ${20}`}`;
    const question = ask`select * from (${list}) as list where ${"b"} = ${"b"}`;
    const { text, params, whole, readable } = question;
    expect(text).toContain("select project_slug, count(*) over () as total from");
    expect(text).toContain("limit 9 offset $2) as list where $3 = $4");
    expect(params).toEqual(["a", 20, "b", "b"]);
    expect(whole.params).toEqual(["a", "b", "b"]);
    expect(whole.text).toContain("limit 9) as list where $2 = $3");
    expect(readable).toMatch(/project_slug > 'a' limit 9\) as list where 'b' = 'b';\n$/);
  });
});
