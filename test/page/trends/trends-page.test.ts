import { describe, expect, it } from "vitest";
import { offeredRows } from "../../support/block-offers.ts";
import { withTestSql } from "../../support/database.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, rowsOf, saysOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { dateAgo, dayAgo, seedDays } from "../../support/seeded-days.ts";
import { refreshPages } from "../../support/served-pages.ts";

/**
 * Of the 28 days before today each has 8 builds of html and 2 of pdf, one a minute. The first html fails each day. Of the last 14 days the last
 * pdf fails too. Yesterday has a build that is stuck.
 */
const WORLD = `
  select ago * 100 + k || '' as id, ago, k as minute, case when k < 8 then 'html' else 'pdf' end as type, '1' as project,
    not (k = 0 or k = 9 and ago <= 14) as success,
    case when k = 0 and ago > 14 then 'ModuleNotFoundError: No module named kiln'
      when k = 0 then 'Command killed due to timeout: make html'
      when k = 9 and ago <= 14 then 'fatal: unable to access the repository' end as error
  from generate_series(1, 28) as ago cross join generate_series(0, 9) as k
  union all select 'stuck', 1, 30, 'html', '1', null, null`;

const SERVICE =
  "insert into sync.service (base_url, resources, noted_at) values ('https://docs.example.org', '{}', now())";

const pages = usePages(async (url) => {
  await seedDays(url, WORLD);
  await withTestSql(url, (sql) => sql.unsafe(SERVICE));
});

const comparison = (page: string): Record<string, string[]> =>
  Object.fromEntries(rowsOf(page, "compare").map(([name = "", ...cells]) => [name, cells]));

describe("the page of trends", () => {
  it("has the words of its golden file: how the rate compares with the period before, and what changed", async () => {
    const paths = [
      "/trends",
      "/trends?type=pdf",
      "/trends?since=7d",
      "/trends?since=7d&type=html",
      `/trends?since=${dateAgo(28)}`,
      `/trends?since=${dateAgo(20)}&until=${dateAgo(20)}`,
      "/trends?type=hmtl&since=7d",
      "/trends?since=2999-01-01",
    ];
    await expectGolden("trends.golden.txt", [{ of: "28 days of ten builds", pages, paths }]);
  });

  it("names its days in its title", async () => {
    const days = `${dayAgo(14)} – ${dayAgo(1)}`.replace(/ (\w{3}) – (\d+) \1$/, "–$2 $1");
    expect(await pages.page("/trends")).toContain(`<title>↓ ${days}: 80.0\u00a0% succeeded`);
  });

  it("draws each day, and names it under the mouse", async () => {
    const block = blockOf(await pages.page("/trends"), "days");
    expect(block.match(/<circle class="dot/g)).toHaveLength(28 + 1);
    // Its lowest line is no 0, and says so.
    expect(block).toMatch(/>40\u00a0%<.*>not 0</s);
    expect(block).toContain(`<title>${dayAgo(2)}: 80.0\u00a0% of 10 builds (49\u00a0% to 94\u00a0%)</title>`);
    expect(block).toContain(`<title>${dayAgo(1)}: 8 succeeded, 2 failed, 1 not finished</title>`);
    expect(block).toContain(`<title>${dayAgo(20)}: 1 broke, 1 fixed</title>`);
    expect(block).not.toMatch(/<svg[^>]*class="plot"[^>]*viewBox/);
    expect(rowsOf(await pages.page("/trends"), "days")).toHaveLength(28);
  });

  it("takes days, moments and spans, and keeps the format in the usual periods", async () => {
    for (const query of [`since=${dateAgo(7)}`, "since=7d", `since=${dateAgo(7)}&until=${dateAgo(1)}`]) {
      expect(mainOf(await pages.page(`/trends?${query}`)), query).toContain("80.0 % of the builds");
    }
    const page = await pages.page("/trends?since=7d&type=html");
    expect(page).toContain(`href="/trends?type=html&amp;since=${dateAgo(7)}" aria-current="true"`);
    expect(page).toContain('<option value="html" selected>');
    expect(blockOf(page, "days")).toMatch(/href="\/files\/trends\/days\.csv\?[^"]*type=html/);
    expect((await pages.get("/trends?since=yesterday")).status).toBe(400);
    expect((await pages.get(`/trends?since=${dateAgo(1)}&until=${dateAgo(9)}`)).status).toBe(400);
  });

  it("shows long periods in longer marks", { tags: ["long"] }, async () => {
    const builds = `select 'b' || ago as id, ago, 0 as minute, 'html' as type, '1' as project, ago % 4 <> 0 as success, null::text as error
      from generate_series(1, 400) as ago`;
    await using served = await openMirrorPages((url) => seedDays(url, builds));
    const quarter = blockOf(await served.page("/trends?since=92d"), "days");
    expect(textOf(quarter)).toContain("By week");
    const page = await served.page(`/trends?since=${dateAgo(400)}`);
    const block = blockOf(page, "days");
    expect(textOf(block)).toContain("By week");
    expect(block.match(/<circle class="dot/g)).toHaveLength(58 + 1);
    expect(mainOf(page)).toContain("300 of 400.");
    expect(blockOf(await served.page("/trends?since=3d"), "days")).toContain('<div class="charts few">');
  });

  it("has what shows nothing as lines behind all else, each with its files", async () => {
    const [shown = "", bare = ""] = (await pages.page("/trends")).split('<div class="bares">');
    const lines = [...bare.matchAll(/<section class="block" id="(\w+)"/g)].map(([, id]) => id);
    expect(lines).toEqual(["platform", "regressions"]);
    for (const id of lines) expect(blockOf(bare, String(id))).toContain(`/files/trends/${id}.csv`);
    expect(shown).not.toContain('class="empty"');
  });

  it("tells how long half waited, by the hour of the trigger", async () => {
    const rows = await offeredRows(pages, await pages.page("/trends"), "waits");
    expect(rows.waits?.map(({ hour, known }) => [hour, known])).toEqual([[12, 140]]);
  });
});

describe("a day that is not over", () => {
  /** Each half hour of four days a build, every third of which fails; of today those that have come. */
  const HALF_HOURS = `
    select ago || '-' || k as id, ago, (k - 24) * 30 as minute, case when k % 2 = 0 then 'html' else 'pdf' end as type, '1' as project, k % 3 <> 0 as success,
      case when k % 3 = 0 then 'ModuleNotFoundError: No module named kiln' end as error
    from generate_series(0, 3) as ago cross join generate_series(0, 47) as k`;
  const COUNTED = `
    with look as (select current_through as at, (current_through at time zone 'utc')::date as day from report.freshness where resource = 'build'),
      build as (
        select *, triggered_on = day as is_today from report.fact_builds cross join look
        where triggered_on = day or triggered_on = day - 1 and triggered_at <= at - interval '1 day'
      )
    select look.day::text, counts.*,
      (select count(*) from report.streaks where worked_before and broke_at >= look.day - 1 and broke_at <= at - interval '1 day')::text as broke_before
    from look cross join (
      select (count(*) filter (where is_today))::text as today, (count(*) filter (where not is_today))::text as before,
        (count(*) filter (where not is_today and failed = 1))::text as failed_before, (count(*) filter (where not is_today and type = 'pdf'))::text as pdf_before
      from build
    ) as counts`;

  it("is compared with the same part of the day before, and says so", async () => {
    await using served = await openMirrorPages((url) => seedDays(url, HALF_HOURS));
    const [is] = await served.sql.unsafe(COUNTED);
    const page = await served.page(`/trends?since=${is?.day}`);
    const rows = comparison(page);
    expect(rows["Builds triggered"]?.slice(0, 2)).toEqual([is?.today, is?.before]);
    expect(rows["Versions and formats that broke"]?.[1]).toBe(is?.broke_before);
    expect(rows["… without faults of the platform"]).toBeUndefined();
    expect(textOf(blockOf(page, "why"))).toContain(`${is?.failed_before} before`);
    expect(rowsOf(page, "days").map(([, good, bad]) => Number(good) + Number(bad))).toEqual([
      Number(is?.today),
      Number(is?.before),
    ]);
    const words = /The last day is not over, so the days before are counted up to \d+ \w+ \d\d:\d\d only\./;
    for (const where of [saysOf(page), textOf(blockOf(page, "compare"))]) expect(where).toMatch(words);
    const ofType = await served.page(`/trends?since=${is?.day}&type=pdf`);
    expect(comparison(ofType)["Builds triggered"]?.[1]).toBe(is?.pdf_before);
    expect(saysOf(await served.page("/trends?since=1d"))).not.toMatch(words);
  });
});

describe("the times of builds", () => {
  /** Eleven builds of yesterday noon. Of the first nothing but the 30 seconds after its trigger is looked at, by `seedDays`. */
  const BUILDS = `
    select 'b' || k as id, 1 as ago, k as minute, 'html' as type, '1' as project, true as success, null as error
    from generate_series(1, 11) as k`;
  /** The second was seen twice; when the other nine ended nobody saw for two hours. */
  const SEEN = `
    update mirror.build_transitions set not_after = not_before + interval '2 hours' where build_id not in ('b1', 'b2');
    update mirror.build_transitions set to_state = 'triggered' where build_id = 'b2';
    insert into mirror.build_transitions (build_id, seq, to_state, not_before, not_after, run_id, rule)
    select build_id, 2, 'finished', not_before + interval '120 s', not_before + interval '240 s', 1, 'watch'
    from mirror.build_transitions where build_id = 'b2';`;
  const UNSEEN = `
    delete from mirror.build_transitions where seq = 2;
    update mirror.build_transitions set to_state = 'finished', not_after = not_before + interval '2 hours';`;

  it("are told of those that are known to within minutes, and how many these are; else one sentence says what is missing", async () => {
    await using watched = await openMirrorPages((url) => seedDays(url, BUILDS));
    const blocks = async (change: string) => {
      await watched.sql.unsafe(`${change} update rollup.state set definition = ''`);
      await refreshPages(watched.databaseUrl);
      const page = await watched.page("/trends");
      return ["durations", "phases", "backlog"].map((id) => blockOf(page, id));
    };
    const [times = "", phases = "", open = ""] = await blocks(SEEN);
    // Half of 0 to 30 s and 90 to 240 s, and nine of ten, each bound by itself.
    expect(textOf(times)).toMatch(/took\s*45\.0 s to 2 min 15 s, nine of ten 1 min 21 s to 3 min 39 s/);
    // No line breaks within a span.
    expect(times).toMatch(
      /45\.0(?:\u00a0|&nbsp;)s to 2(?:\u00a0|&nbsp;)min(?:\u00a0|&nbsp;)15(?:\u00a0|&nbsp;)s/,
    );
    expect(textOf(times)).toMatch(/2 of 11 builds that finished,\s*18\.2 %\..*docmirror watch/s);
    expect(times.match(/class="mini" height="16" role="img"/g)).toHaveLength(2);
    expect(textOf(times)).toMatch(/10 s\s*1 min\s*10 min/);
    expect(textOf(phases)).toMatch(/of 11 builds that finished/);
    const [, known, hours] = /in ([\d,]+) of ([\d,]+) hours/.exec(textOf(open)) ?? [];
    expect(Number(hours) - Number(known)).toBe(2);
    const [unseen, ...others] = await blocks(UNSEEN);
    for (const block of [unseen, others[0]]) {
      const words = /Not known\..*Of 11 finished builds no time.*that takes docmirror watch/s;
      expect(textOf(block ?? "")).toMatch(words);
      expect(block).not.toContain('class="bounds');
    }
  });
});
