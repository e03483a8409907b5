/** One day of the past on Now: what failed at its end, what broke and was fixed in it, and what cannot be said. */
import { describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { HOSTILE_SLUGS, seedPages } from "../../support/served-pages.ts";

const HOSTILE = Object.keys(HOSTILE_SLUGS).length;
const DAY_MS = 86_400_000;
const dayAgo = (days: number): string => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);

/** Beside pip, whose builds of 4, 8, … days ago failed: what broke and was fixed at 9 and 10 o'clock five days ago, and a break that lasts. */
const MORE = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select n::text, 'day-' || n, 'Day', 'list', true, now(), now(), '' from generate_series(401, 402) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select 'v' || id, 'latest', id, now(), now(), '' from mirror.projects where slug like 'day-%';
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select id, (now() at time zone 'utc')::date - day + at::time, 'finished', success, type, project, 'v' || project, now(), now(), ''
  from (values
    ('1', 9, '08:00', true, 'html', '401'), ('2', 5, '09:00', false, 'html', '401'), ('3', 5, '10:00', true, 'html', '401'),
    ('4', 9, '08:00', true, 'html', '402'), ('5', 5, '00:00', false, 'html', '402'), ('6', 6, '23:30:00', false, 'pdf', '402')
  ) as of (id, day, at, success, type, project);
  insert into mirror.build_logs (build_id, error) values ('5', 'ModuleNotFoundError: No module named kiln')`;

const pages = usePages((url) => seedPages(url, MORE));

describe("a day of the past", () => {
  it("shows what failed at its end, by row, figure and file, as report.failing_on has it", async () => {
    for (const days of [1, 2, 3, 4, 5, 6, 12, 20]) {
      const day = dayAgo(days);
      const [row] = await pages.sql<{ projects: number }[]>`
        select count(distinct project_id)::int as projects from report.failing_on(${day})`;
      const page = await pages.page(`/?day=${day}`);
      expect(textOf(blockOf(page, "failing")), day).toMatch(
        new RegExp(`Failing at the end of .* ${row?.projects} project`),
      );
      expect(textOf(mainOf(page)), day).toMatch(new RegExp(`Failing at its end\\s*${row?.projects} project`));
      const file =
        (await pages.page(`/files/now/failing.json?day=${day}`)).match(/"first_failed_build_id"/g) ?? [];
      expect(file, day).toHaveLength(row?.projects ?? 0);
    }
  });

  it("has the words of its golden file: what broke and was fixed in it, and nothing that cannot be known", async () => {
    const paths = [5, 4].map((days) => `/?day=${dayAgo(days)}`);
    await expectGolden("past-day.golden.txt", [{ of: "days of the past", pages, paths }]);
    const page = await pages.page(`/?day=${dayAgo(5)}&refresh=60`);
    expect(page).not.toMatch(/id="(stuck|arrivals|checked|rules)"|Asks again/);
    // In the paragraph of the reason, which is never cut.
    expect(page).toMatch(/<p class="why">(?:(?!<\/p>).)*since build/s);
  });

  it("has links, files and a feed of that day, and does not ask again by itself", async () => {
    const day = dayAgo(2);
    const reply = await pages.get(`/?day=${day}&refresh=60`);
    expect(reply.headers.get("refresh")).toBeNull();
    const page = await reply.text();
    expect(page).toContain(`href="/files/now/failing.csv?day=${day}"`);
    expect(page).toContain(`href="/feed.atom?day=${day}"`);
    expect(page).toContain(`<input type="hidden" name="day" value="${day}">`);
    const never = await pages.page(`/?day=${day}&show=never`);
    expect(textOf(blockOf(never, "failing"))).toContain(`${HOSTILE} projects`);
    const ids = async (path: string) =>
      (await pages.page(path)).match(/(?<=<id>tag:docmirror,2026:)build[^<]*/g) ?? [];
    expect((await ids(`/feed.atom?day=${dayAgo(4)}`))[0]).toBe("build/1004/broke");
    expect((await ids("/feed.atom"))[0]).not.toBe("build/1004/broke");
    expect(await pages.page(`/feed.atom?day=${dayAgo(4)}`)).toContain(`/feed.atom?day=${dayAgo(4)}"/>`);
  });

  it("is chosen by a form that names the days which are known, and by links to those around it", async () => {
    const now = await pages.page("/");
    expect(now).toContain(`name="day" type="date" value="" min="${dayAgo(40)}" max="${dayAgo(1)}"`);
    expect(now).toContain(`href="/?day=${dayAgo(1)}"`);
    const page = await pages.page(`/?day=${dayAgo(3)}`);
    for (const near of [2, 4]) expect(page).toContain(`href="/?day=${dayAgo(near)}"`);
    expect(page).toContain(`href="/?day=${dayAgo(3)}" aria-current="true"`);
  });
});

/** It failed for two weeks, and is gone since the day before yesterday. */
const GONE = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, deleted_at, record_hash)
  values ('403', 'gone', 'Gone', 'list', true, now(), now(), date_trunc('day', now()) - interval '1 day', '');
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  values ('v403', 'latest', '403', now(), now(), '');
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  values ('1', (now() at time zone 'utc')::date - 14, 'finished', false, 'html', '403', 'v403', now(), now(), '')`;

describe("a day before a project was deleted", () => {
  it("is compared with the day before by what existed at its end", async () => {
    await using served = await openMirrorPages((url) => seedPages(url, GONE));
    for (const days of [3, 4, 5]) {
      const [row] = await served.sql<{ then: number; before: number }[]>`
        select (select count(distinct project_id) from report.failing_on(${dayAgo(days)}))::int as then,
          (select count(distinct project_id) from report.failing_on(${dayAgo(days + 1)}))::int as before`;
      expect(textOf(mainOf(await served.page(`/?day=${dayAgo(days)}`))), dayAgo(days)).toMatch(
        new RegExp(`${row?.then} projects? failed at the end of \\d+ \\w+, ${row?.before} a day before`),
      );
    }
  });
});

describe("a day of which nothing can be said", () => {
  it.each([
    [() => dayAgo(0), "is not over yet"],
    [() => dayAgo(-9), "is not over yet"],
    [() => "2001-01-01", "The first build that the mirror knows is of"],
  ])("has words for why, and the form for another one", async (day, words) => {
    const page = await pages.page(`/?day=${day()}`);
    expect(textOf(mainOf(page))).toContain(words);
    expect(page).toContain('name="day" type="date"');
    expect(blockOf(page, "failing")).toBe("");
    const file = await pages.get(`/files/now/failing.csv?day=${day()}`);
    expect([file.status, await file.text()]).toEqual([400, expect.stringContaining(words)]);
  });

  it("is one that is no date", async () => {
    for (const path of ["/?day=2026-13-01", "/?day=tuesday", "/feed.atom?day=tuesday"]) {
      const reply = await pages.get(path);
      expect([reply.status, await reply.text()], path).toEqual([400, expect.stringContaining("give a day")]);
    }
  });

  it("is one that was not over when the mirror last looked", { tags: ["long"] }, async () => {
    const later = { ...systemClock, now: () => new Date(Date.now() + DAY_MS) };
    await using stale = await openMirrorPages((url) => seedPages(url, MORE), later);
    expect(textOf(mainOf(await stale.page(`/?day=${dayAgo(0)}`)))).toMatch(
      /The mirror last looked at .* UTC, before .* was over/,
    );
    const known = await stale.page(`/?day=${dayAgo(1)}`);
    expect(textOf(mainOf(known))).not.toContain("Not current");
    expect(textOf(blockOf(known, "failing"))).toContain(`Failing at the end of`);
  });
});
