/** Mirrors of one project, and one in which every project fails: each page has the figures of the relations, in words that fit a single one. */
import { describe, expect, it } from "vitest";
import { counted } from "../../src/base/text.ts";
import { percent, wholePercent } from "../../src/page/parts/html.ts";
import { withTestSql } from "../support/database.ts";
import { usePages } from "../support/mirror-pages.ts";
import { EACH_LIST } from "../support/mirror-rows.ts";
import { textOf } from "../support/page-text.ts";
import { refreshPages } from "../support/served-pages.ts";

/** Projects with one version each, and `builds` of them as rows of project, number, age, success. A sync and a look have just ended. */
const rowsOf = (projects: number, builds: string) => `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  select kind, 'succeeded', now() - ago, now() - ago + interval '20 s', now(), 1, 'test'
  from (values ('full', interval '1 hour'), ('watch', interval '1 minute')) as of (kind, ago);
  insert into sync.walks (run_id, resource, walk, started_at, finished_at, pages)
  select id, resource, case kind when 'watch' then 'head' else 'whole' end, started_at, finished_at, 1
  from sync.runs cross join ${EACH_LIST} as resource where kind <> 'watch' or resource = 'build';
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select n::text, 'kiln-' || n, 'Kiln ' || n, 'list', true, now(), now(), '' from generate_series(1, ${projects}) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select id, 'latest', id, now(), now(), '' from mirror.projects;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select project || '0' || n, date_trunc('second', now() at time zone 'utc') - ago::interval, 'finished', success, 'html', project, project,
    now() - ago::interval, now(), ''
  from (${builds}) as of (project, n, ago, success);
  insert into mirror.build_logs (build_id, error)
  select id, 'ModuleNotFoundError: No module named ''kiln''' from mirror.builds where not success;
  insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
  select id, 1, state, date at time zone 'utc', date at time zone 'utc' + interval '90 s', 2, 'date' from mirror.builds`;

const NOT_USUAL = /too few days yet to say what is usual/;
/** `now` is the verdict of now; `usual` what its evidence says about other days. */
const WORLDS = [
  {
    world: "one project whose only build succeeded",
    rows: rowsOf(1, "values ('1', 1, '2 hours', true)"),
    now: /^Nothing fails: the last finished build of every version and format succeeded\.$/,
    usual: /^1 project, 1 finished build,/,
    project: /^kiln-1 is good, and so are its main docs\.$/,
  },
  {
    world: "one project whose only build failed",
    rows: rowsOf(1, "values ('1', 1, '2 hours', false)"),
    now: /^1 of 1 project fails; 1 project has a version or format that broke in the last 24 hours; the newest, kiln-1 ?, \d+ h ago ?\.$/,
    usual: NOT_USUAL,
    project: /^kiln-1 : the main docs have been failing at least for \d+ h ?\.$/,
  },
  {
    world: "one project that broke and was fixed",
    rows: rowsOf(1, "values ('1', 1, '2 hours', true), ('1', 2, '9 hours', false)"),
    now: /^No project fails; 1 project has a version or format that broke in the last 24 hours; it is fixed\.$/,
    usual: NOT_USUAL,
    project: /^kiln-1 is good, and so are its main docs\.$/,
  },
  {
    world: "three projects that all fail",
    rows: rowsOf(
      3,
      `select n::text, day + 1, day || ' days 1 hour', n < 3 and day >= n
      from generate_series(1, 3) as n cross join generate_series(0, 40) as day`,
    ),
    now: /^3 of 3 projects fail, 2 a day ago; 1 project has a version or format that broke in the last 24 hours, more than usual \(0\)\. The newest is kiln-1 ?, \d+ (min|h) ago ?\.$/,
    usual: /Too few builds in the last 3 hours to tell/,
    project: /^kiln-1 : the main docs have been failing for \d+ (min|h) ?\.$/,
  },
];

/** The figures as the relations have them. Trends are about whole days, and errors about today too. */
const FIGURES = `
  with day as (select *, (select min(day) from report.dim_dates) as first from report.success_rate_daily),
    trend as (select * from day where day < greatest(current_date, first + 1) and day >= current_date - 14),
    last_day as (select * from report.fact_builds where triggered_at > now() - interval '24 hours' and succeeded is not null)
  select (select count(*) from report.dim_projects where project_id <> '-1')::int as projects,
    (select count(*) from report.failing_projects)::int as failing,
    (select count(*) from report.failing_projects where is_main_failing)::int as main,
    (select count(*) from report.project_states where state = 'good')::int as good,
    (select count(*) from last_day)::int as lately, (select coalesce(sum(succeeded), 0) from last_day)::int as lately_good,
    (select count(distinct project_id) from report.streaks where broke_at > now() - interval '24 hours')::int as broke,
    (select count(distinct project_id) from report.streaks where broke_at > now() - interval '24 hours' and worked_before)::int as had_worked,
    (select count(distinct project_id) from report.recoveries where recovered_at > now() - interval '24 hours')::int as fixed,
    (select sum(finished) from trend)::int as finished, (select sum(succeeded) from trend)::int as succeeded,
    (select sum(finished) from day where day > current_date - 14)::int as errors_of,
    (select sum(failed) from day where day > current_date - 14)::int as errors,
    (select sum(records) from report.freshness)::int as records,
    (select count(*) from report.fact_builds where project_id = '1')::int as builds,
    (select count(*) from report.fact_builds where project_id = '1' and failed = 1)::int as failures`;
type Figures = Record<
  | (
      | "projects"
      | "failing"
      | "main"
      | "good"
      | "lately"
      | "lately_good"
      | "broke"
      | "had_worked"
      | "fixed"
      | "finished"
    )
  | ("succeeded" | "errors_of" | "errors" | "records" | "builds" | "failures"),
  number
>;

/** The words of each page, by these figures. */
const SAYS: Record<string, (f: Figures) => readonly string[]> = {
  "/": (f) => [
    `Succeeded , last 24 hours ${percent(f.lately_good / f.lately)} of ${counted(f.lately, "build")}`,
    `Failing now ${f.failing} of ${counted(f.projects, "project")} ${f.main} in their main docs`,
    `Fixed , last 24 hours ${f.fixed} ${f.fixed === 1 ? "project" : "projects"} in a version or format, against ${f.broke} that broke`,
    `Failing now ${counted(f.failing, "project")}`,
  ],
  "/trends": (f) => [
    `${percent(f.succeeded / f.finished)} of the builds of`,
    `of ${counted(f.finished, "build")} that finished`,
    f.succeeded === f.finished
      ? `${f.finished} build of these days has finished`
      : `Why builds fail ${f.finished - f.succeeded}`,
  ],
  "/projects": (f) => [
    `${f.good === 0 ? "None" : f.good} of ${counted(f.projects, "project")} ${f.good === 1 || f.projects === 1 ? "is" : "are"} good`,
    `All ${f.projects} Main docs fail ${f.main} Other versions or formats fail 0 Good ${f.good} Not known 0`,
  ],
  "/projects?q=kiln-1": () => ["Projects like “kiln-1” 1"],
  "/projects?q=nosuch": (f) => [
    `${counted(f.projects, "project is", "projects are")} outside this choice.`,
    f.projects === 1 ? "The only project" : `All ${f.projects} projects`,
  ],
  "/project/kiln-1": (f) => {
    const [last, failed] = [Math.min(30, f.builds), f.failures];
    return [
      `${wholePercent((last - failed) / last)} ${last - failed} of ${last}`,
      `Failing now ${f.failing === 0 ? 0 : 1} of 1 version · format`,
      `Why it failed ${counted(f.failures, "failed build")}`,
    ];
  },
  "/errors": (f) =>
    f.errors === 0
      ? [
          "No build failed on",
          `${counted(f.errors_of, "build")} finished.`,
          `None failed. ${f.errors_of} build of these days has finished.`,
        ]
      : [
          `${counted(f.errors, "build")} failed on`,
          `Of ${counted(f.errors_of, "finished build")} ${percent(f.errors / f.errors_of)} failed.`,
          `1 kind, ${counted(f.errors, "build")}`,
          `${f.failing} ${f.failing === 1 ? "fails" : "fail"} now`,
        ],
  "/mirror": (f) => ["The mirror is current", `Records ${f.records} 0 more are gone upstream`],
  "/build/101": (f) => [f.failing === 0 ? "Succeeded" : "Failed", "Builds of latest · html"],
};

const NOUNS =
  "project|build|finished build|failed build|version|format|kind|line|failure|hour|day|run|reading|round|record|streak";
/** Words that no page may say of a single one, of several, or of what was divided by nothing. */
const SLIPS = [
  new RegExp(`(?<![\\d.,:–/-]) 1 (${NOUNS})s\\b`),
  new RegExp(`(?<![\\d.,:–/-]) [02-9] (${NOUNS})\\b(?! number)`),
  new RegExp(`\\b(all|last|the|its|these) 1 (${NOUNS})`, "i"),
  /\b1 (fail|are|have|were)\b/,
  /\b(these|the) one days?\b|\bthe only \w+s\b/,
  /NaN|Infinity|undefined|null|\[object|−0\.0/,
];

describe.each(WORLDS)("a mirror of $world", ({ rows, now, usual, project }) => {
  const pages = usePages(async (url) => {
    await withTestSql(url, async (sql) => void (await sql.unsafe(rows)));
    await refreshPages(url);
  });

  it("says on each page what the relations say", async () => {
    const [figures] = await pages.sql.unsafe<[Figures]>(FIGURES);
    for (const [path, says] of Object.entries(SAYS)) {
      const html = (await pages.page(path)).split(/<main[^>]*>/)[1] ?? "";
      // Without the SQL of the blocks, and the row of a build as it is stored.
      const shown = html
        .replace(/<div class="pop".*?<\/div><\/div>/gs, "")
        .replace(/<summary>Its row in report.*?<\/details>/s, "");
      const text = (part: string) =>
        textOf(part.replace(/<\/?[a-z]/g, " $&"))
          .replace(/\s+/g, " ")
          .trim();
      for (const words of says(figures)) expect(text(shown), path).toContain(words.replaceAll("\u00a0", " "));
      const told = [...shown.matchAll(/aria-label="([^"]*)"/g)].map(([, words]) => words).join("; ");
      for (const slip of SLIPS) expect(`${text(shown)}; ${told}`, path).not.toMatch(slip);
      const verdict = text(/<h1[^>]*>(.*?)<\/h1>/s.exec(shown)?.[1] ?? "");
      if (path === "/") {
        expect(verdict).toMatch(now);
        expect(text(/<p class="say">(.*?)<\/p>/s.exec(shown)?.[1] ?? "")).toMatch(usual);
        const isNew = /It had never worked before\.|Of the \d+, none had worked before\./.test(text(shown));
        expect(isNew).toBe(figures.broke > 0 && figures.had_worked === 0);
        if (usual === NOT_USUAL) expect(text(shown)).not.toMatch(/ordinary|on other days|than usual/);
      }
      if (path === "/project/kiln-1") expect(verdict).toMatch(project);
    }
  });
});

describe("a mirror of thirty projects, half with a format that came to be known this month and never worked", () => {
  const pages = usePages(async (url) => {
    const rows = rowsOf(
      30,
      `select n::text, day + 1, day || ' days ' || 20 + n * 40 || ' minutes', n % 2 = 0 or day > 19
      from generate_series(1, 30) as n cross join generate_series(0, 60) as day`,
    );
    const formats = "update mirror.builds set type = 'pdf' where not success";
    await withTestSql(url, async (sql) => void (await sql.unsafe(`${rows}; ${formats}`)));
    await refreshPages(url);
  });

  it("does not say that more fail than before: nothing was known of them", async () => {
    const html = await pages.page("/");
    expect(textOf(/<h1[^>]*>(.*?)<\/h1>/s.exec(html)?.[1] ?? "")).toMatch(
      /^15 of 30 projects fail, 15 a day ago; nothing broke/,
    );
    expect(textOf(/<p class="say">(.*?)<\/p>/s.exec(html)?.[1] ?? "")).not.toMatch(/more fail/);
  });
});
