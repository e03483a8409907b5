import { describe, expect, it, test } from "vitest";
import { describeBuild, type Line } from "../../../src/mirror/builds/describe-build.ts";
import { explainBuild } from "../../../src/mirror/builds/explain-build.ts";
import { cleanLine } from "../../../src/page/build/log-tail.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { cpuMsOf } from "../../support/cpu-time.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, expectHarmless, headingOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { createReader } from "../../support/roles.ts";
import { refreshPages, seedPages, servePages } from "../../support/served-pages.ts";
import { createToldBuild } from "../../support/told-build.ts";

test("the page of a build shows every line that explain prints, even before the reports were computed", async () => {
  await using told = await createToldBuild();
  await using served = await servePages(told.url);
  const { build, quarantine } = await explainBuild(told.sql, "42", "Etc/UTC");
  if (build === null) throw new Error("there is no build 42");
  const page = textOf(await served.page("/build/42"));
  const { state, facts, states, changes, quarantine: rows } = describeBuild(build, quarantine, 50);
  const entries = [...facts, ...states.shown.flatMap((one) => one.entries), ...changes.shown, ...rows.shown];
  const textOfLine = (line: Line) =>
    line.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
  const lines = entries.flatMap((entry) => entry.lines.map(textOfLine));
  expect(lines.length).toBeGreaterThan(40);
  const shown = [state, ...states.shown.map(({ title }) => title), ...lines];
  expect(shown.filter((text) => !page.includes(text))).toEqual([]);
  expect(page).toContain("It is not counted yet: the reports are computed when a run ends.");
});

/** Builds of every kind, and logs as strangers write them. */
const MORE = String.raw`
  insert into sync.service (base_url, resources, noted_at) values ('https://docs.example.org/base', '{}', now());
  update mirror.projects set subdomain = 'http://pip.docs.example.org/', absolute_url = '/projects/pip/' where id = '1';
  update mirror.projects set subdomain = 'javascript:alert(1)', absolute_url = 'data:text/html,x' where id = '11';

  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, deleted_at, record_hash)
  select id, date_trunc('second', now() at time zone 'utc') - ago, state, success, 'html', '1', '1', now() - ago, now(),
    case when is_deleted then now() - interval '3 hours' end, ''
  from (values
    ('3000', interval '90 minutes', 'finished', false, false),
    ('3001', interval '80 minutes', 'finished', null, false),
    ('3002', interval '70 minutes', 'resting', null, false),
    ('3003', interval '60 minutes', 'building', null, true),
    ('3004', interval '30 days 90 minutes', 'finished', true, true),
    ('3005', interval '10 minutes', 'building', null, false),
    ('3006', interval '30 days 2 hours', 'finished', false, false)
  ) as of (id, ago, state, success, is_deleted);
  insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
  values ('3007', null, 'finished', true, 'html', now(), now(), ''), ('3008', '9999-01-01', 'finished', true, 'html', now(), now(), '');
  insert into sync.open_builds (build_id, since, seen_at, run_id) values ('3005', now() - interval '9 minutes', now() - interval '4 minutes', 2);
  insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, run_id, rule) values
    ('3000', 1, null, 'triggered', now() - interval '90 minutes', now() - interval '89 minutes', 2, 'date'),
    ('3000', 2, 'triggered', 'building', now() - interval '88 minutes', now() - interval '87 minutes', 2, 'last_seen'),
    ('3000', 3, 'building', 'finished', now() - interval '86 minutes', now() - interval '85 minutes', 2, 'last_seen'),
    ('3005', 1, null, 'building', '-infinity', now() - interval '9 minutes', 2, 'unknown');
  insert into mirror.build_logs (build_id, setup, output, error) values
    ('3000', 'git clone', E'one\ntwo\r\nthree\x1b[31m red\x1b[0m\nWARNING: undefined label\nlast of the output\n',
      E'\x1b[1mTraceback:\x1b[0m\n  File "<script>alert(1)</script>"\n\tindented\x07\nError: no module kiln\x1b]0;title\x07\n');
  insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at)
  values (2, 'build', '3999', 'could not store build 3999: <img src=x>', '{}', now());
`;

/** Builds that failed, each of a project of its own, with its error line and how long ago it was. */
const ALIKE = `
  create temporary table failed as select * from (values
    (201, 'ModuleNotFoundError: No module named ''cotton''', interval '1 hour'),
    (202, 'ModuleNotFoundError: No module named ''cotton''', interval '2 days'),
    (203, 'ModuleNotFoundError: No module named ''kiln''', interval '3 hours'),
    (204, 'ModuleNotFoundError: No module named ''cotton''', interval '40 days'),
    (205, 'docs/index.rst:12: WARNING: cotton is old', interval '1 hour'),
    (206, 'docs/usage.rst:345: WARNING: cotton is old', interval '4 hours')
  ) as of (id, line, ago);
  insert into mirror.projects (id, slug, name, source, listed, default_version, first_seen_at, changed_at, record_hash)
  select id::text, 'p' || id, 'p', 'list', true, 'latest', now(), now(), '' from failed;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select 'v' || id, 'latest', id::text, now(), now(), '' from failed;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select '5' || id, (now() - ago) at time zone 'utc', 'finished', false, 'html', id::text, 'v' || id, now(), now(), '' from failed;
  insert into mirror.build_logs (build_id, error) select '5' || id, line from failed;
`;

describe("the same error", () => {
  const pages = usePages((url) => seedPages(url, ALIKE));

  it.each([
    ["is the same line in 28 days; the same kind has a count of its own", "5201", ["p202"], 2],
    ["is none where only the kind is the same", "5203", [], 2],
    ["may be in another place", "5205", ["p206"], 1],
  ])("%s", async (_, id, slugs, ofKind) => {
    const page = await pages.page(`/build/${id}`);
    const same = blockOf(page, "same");
    expect([...same.matchAll(/href="\/project\/([^"]*)"/g)].map(([, slug]) => slug)).toEqual(slugs);
    expect(textOf(same)).toContain(`the same kind: ${ofKind} other project`);
    const { same: rows = [] } = await offeredRows(pages, page, "same");
    expect(rows.map(({ project_slug }) => project_slug)).toEqual(slugs);
  });
});

describe("the page of a build", () => {
  const pages = usePages((url) => seedPages(url, MORE));

  it("has the words of its golden file: what it is, why it failed, what came before and after, and no more", async () => {
    const ids = [
      "3000",
      "1001",
      "1004",
      "1040",
      "2000",
      ...[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `300${n}`),
      "h11",
    ];
    const paths = [...ids, "77777", "3999"].map((id) => `/build/${id}`);
    // A mirror of its own: other tests give builds other logs.
    const fill = (url: string) => seedPages(url, MORE);
    await expectGolden("build.golden.txt", [{ of: "builds of every kind", fill, paths }]);
    const page = await pages.page("/build/3000");
    expect(page).toMatch(/<link rel="icon" href="data:[^"]*cf3f2e/);
    expect(page.match(/<h1/g)).toHaveLength(1);
  });

  it("shows the cause in its context: the end of the output, the lines before, the line itself", async () => {
    const why = blockOf(await pages.page("/build/3000"), "why");
    const lines = [...why.matchAll(/<span class="l( dim| hit|)"><a href="#([^"]*)".*?<span>(.*?)<\/span>/g)];
    expect(lines.map(([, kind, to]) => [kind?.trim(), to])).toEqual([
      ...[3, 4, 5].map((line) => ["dim", `output-${line}`]),
      ...[1, 2, 3].map((line) => ["", `error-${line}`]),
      ["hit", "error-4"],
    ]);
  });

  it("has the whole log folded, with an anchor for each line that the cause links to", async () => {
    const page = await pages.page("/build/3000");
    const log = blockOf(page, "log");
    expect(log.match(/<details id="log-[a-z-]+">/g)).toHaveLength(3);
    const targets = [...page.matchAll(/href="#((?:setup|output|error)[a-z-]*-\d+)"/g)].map(([, to]) => to);
    expect(targets.filter((to) => !log.includes(`id="${to}"`))).toEqual([]);
    expect(new Set(page.match(/\sid="[^"]*"/g)).size).toBe(page.match(/\sid="[^"]*"/g)?.length);
  });

  it("has the last thirty builds of its version and format, itself among them", async () => {
    const series = blockOf(await pages.page("/build/1004"), "series");
    expect(series.match(/<li>/g)).toHaveLength(30);
    expect(series.match(/<a [^>]*aria-current="true"/g)).toHaveLength(1);
    expect(series).toMatch(/href="\/build\/1004"[^>]*aria-current="true"/);
  });

  it("leads to the documentation and then to the record upstream, by http and https alone", async () => {
    const links = async (id: string) => {
      const page = await pages.page(`/build/${id}`);
      return [...page.matchAll(/<a href="([^"]*)" rel="noreferrer">/g)].map(([, href]) => href);
    };
    const [docs, upstream] = ["http://pip.docs.example.org/", "https://docs.example.org/base/api/v1/build"];
    expect(await links("3000")).toEqual([docs, `${upstream}/3000/`]);
    // A record that the service no longer has is not linked; a script is no address.
    expect(await links("3004")).toEqual([docs]);
    expect(await links("h11")).toEqual([`${upstream}/h11/`]);
    expect(await pages.page("/build/h11")).not.toMatch(/href="(?:javascript|data:text)/);
  });

  it("draws each state by its bounds", async () => {
    const states = blockOf(await pages.page("/build/3000"), "states");
    const edges = /<rect fill="url\(#hatch\)" class="m-edge" (?:rx="2" x=|x="[\d.]+%")/g;
    expect(states.match(edges)).toHaveLength(3);
  });

  it("holds the end of a log of 100,000 lines, and says where the rest is", { tags: ["long"] }, async () => {
    await pages.sql`
        insert into mirror.build_logs (build_id, output, error)
        select '1004', string_agg('line ' || n || ' <b>of</b> many', E'\n' order by n), E'Error: at the end\n' from generate_series(1, 100000) as n
        on conflict (build_id) do update set output = excluded.output, error = excluded.error`;
    await refreshPages(pages.databaseUrl);
    let page = "";
    const ms = await cpuMsOf(async () => {
      page = await pages.page("/build/1004");
    });
    expect(ms).toBeLessThan(5000);
    const log = blockOf(page, "log");
    expect(page.length).toBeLessThan(600_000);
    expect(textOf(log)).toContain("Output 100,000 lines");
    expect(textOf(log)).toContain("Only the last 2,000 lines are here. The text file has all 100,000.");
    expect(log.match(/id="output-\d+"/g)).toHaveLength(2000);
    expect(log).toContain('id="output-98001"');
    expect(textOf(log)).toContain("line 100000 <b>of</b> many");
    expect(blockOf(page, "why")).toContain('href="#output-100000"');
    const text = await (await pages.get("/build/1004/log.txt")).text();
    expect(text.match(/^line \d+ /gm)).toHaveLength(100_000);
  });

  it("finds an error line far down its text by the number that it has there", async () => {
    await pages.sql`
        insert into mirror.build_logs (build_id, error)
        select '1008', string_agg('line ' || n, E'\n' order by n) || E'\nWarning, treated as error:\nindex.rst: the message\n' from generate_series(1, 3000) as n
        on conflict (build_id) do update set error = excluded.error`;
    await refreshPages(pages.databaseUrl);
    const why = blockOf(await pages.page("/build/1008"), "why");
    const hits = [...why.matchAll(/class="l hit"><a href="#error-(\d+)"/g)].map(([, number]) => number);
    expect(hits).toEqual(["3001", "3002"]);
    expect(why).toContain('<a href="#error-3002">Line 3002 of the errors</a>');
    expect(headingOf(await pages.page("/build/1008"))).toContain("ago: index.rst: the message");
    expect(why.match(/class="l"><a href="#error-(\d+)"/g)).toHaveLength(3);
  });

  it("does nothing that its log says", async () => {
    for (const id of ["3000", "h11", "h12", "h15"]) expectHarmless(await pages.page(`/build/${id}`), id);
    const page = await pages.page("/build/3000");
    for (const id of ["why", "log"]) expect(blockOf(page, id)).not.toMatch(/\[31m|0;title|\p{Cc}(?<!\n)/u);
  });

  it("is served by a role that reads the report and the records alone", async () => {
    await using role = await createReader(pages.database, { withInterface: true });
    await using served = await servePages(role.url);
    expect(headingOf(await served.page("/build/3000"))).toContain("no module kiln");
    expect(headingOf(await served.page("/mirror"))).toContain("current");
  });
});

describe("a line of a log", () => {
  it.each([
    ["\u001b[31;1mred\u001b[0m and plain", "red and plain"],
    ["\u001b[2K\u001b[1Gprogress", "progress"],
    ["\u001b]8;;https://x.example/\u001b\\link\u001b]8;;\u001b\\", "link"],
    ["\u001b]0;title\u0007text", "text"],
    ["\u009b31mred", "red"],
    ["\u001b(Bcharset", "charset"],
    ["a\tb", "a    b"],
    ["bell\u0007, null\u0000, delete\u007f", "bell, null, delete"],
    ["[31m stays", "[31m stays"],
    ["ünï ❤", "ünï ❤"],
  ])("%j is shown as %j", (line, shown) => {
    expect(cleanLine(line)).toBe(shown);
  });

  it("of any length is cleaned in time that grows with it alone", async () => {
    const ms = await cpuMsOf(() => {
      cleanLine("\u001b[".repeat(200_000));
      cleanLine(`\u001b]${"x".repeat(200_000)}`);
    });
    expect(ms).toBeLessThan(2000);
  });
});
