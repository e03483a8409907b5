/** A mirror that nobody syncs: the clock goes on, the data does not, and no page may look better for it. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { writeSite } from "../../src/page/write-site.ts";
import { withSnapshot } from "../../src/report/read-answer.ts";
import { useFolder } from "../support/folder.ts";
import { openMirrorPages } from "../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../support/page-text.ts";
import { SILENCE, seedPages } from "../support/served-pages.ts";

/** Thirty projects with a build every day; some break each day and are fixed the next, and more at all hours of the last day. */
const BREAKS = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select (500 + n)::text, 'daily-' || n, 'Daily', 'list', true, now(), now(), '' from generate_series(1, 30) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select 'v' || id, 'latest', id, now(), now(), '' from mirror.projects where slug like 'daily-%';
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select 'd' || n || '-' || day, at, 'finished', case when day = 0 then n % 2 = 0 else (n + day) % 6 > 0 end, 'html', (500 + n)::text, 'v' || (500 + n),
    at at time zone 'utc', now(), ''
  from generate_series(1, 30) as n cross join generate_series(0, 35) as day
  cross join lateral (
    select date_trunc('second', now() at time zone 'utc') - day * interval '1 day' - (n * 46 + 5) * interval '1 minute' as at
  ) as triggered;`;
const STEP_MS = 30 * 60_000;
/** Ten times as long as the hour between its last two looks. */
const STALE_MS = 10 * 59 * 60_000;

/** The words of the page of now that may not become better: its verdict, its figures without ages, and what stands below. */
function wordsOf(page: string) {
  const [, look] = /<section class="verdict (\w+)"/.exec(page) ?? [];
  const [, tick] = /<a class="fresh (\w+)"/.exec(page) ?? [];
  const figures = textOf(page.split('<dl class="figures')[1]?.split("</dl>")[0] ?? "");
  const [broke] =
    /\d+ projects (?=ha(?:ve|d) a version or format that broke in)/.exec(textOf(mainOf(page))) ?? [];
  const counts = ["failing", "why", "fixed", "stuck"].map((id) =>
    textOf(/<span class="count">(.*?)<\/span>/.exec(blockOf(page, id))?.[1] ?? ""),
  );
  const still = figures.replace(
    /(last|those) 24 hours|now(?=\d)|(at )?\d+ [A-Z][a-z]{2} (?=\d\d:)|\d\d:\d\d/g,
    "",
  );
  const [failing] = /Failing \d+ of \d+ projects/.exec(still) ?? [];
  return { look, tick, failing, said: [look, broke, still, ...counts] };
}

const inHand = () => {
  const startMs = Date.now();
  const clock = { ...systemClock, afterMs: 0, now: () => new Date(startMs + clock.afterMs) };
  return clock;
};

const ONE = ["long"];
const MORE = ["long", "exhaustive"];

describe.each([
  { of: "projects that broke", more: BREAKS, first: "bad", tags: ONE },
  { of: "a silence", more: SILENCE, first: "bad", tags: MORE },
  { of: "nothing that broke today", more: "", first: "flat", tags: MORE },
])("a mirror that nobody syncs, with $of", ({ more, first, tags }) => {
  it("says the same for 60 hours, and then that it is old", { tags }, async () => {
    const clock = inHand();
    await using pages = await openMirrorPages((url) => seedPages(url, more), clock);
    const at = async (afterMs: number) => {
      clock.afterMs = afterMs;
      return wordsOf(await pages.page("/"));
    };
    const start = await at(0);
    expect(start).toMatchObject({ look: first, tick: "good" });
    for (let ms = STEP_MS; ms <= 60 * 60 * 60_000; ms += STEP_MS) {
      const now = await at(ms);
      const isOld = ms >= STALE_MS;
      // A page of a silence has no such figure until the mirror is old.
      const failing = start.failing ?? now.failing;
      if (isOld) expect(now, `${ms / STEP_MS} steps`).toMatchObject({ look: "warn", failing });
      else expect(now.said, `${ms / STEP_MS} steps`).toEqual(start.said);
      expect(now.tick, `${ms / STEP_MS} steps`).toBe(isOld ? "warn" : "good");
    }
  });
});

describe("a mirror of which nobody asked for 5 hours", () => {
  it("names the end of its day, and has its feed and errors as they were", async () => {
    const clock = inHand();
    await using pages = await openMirrorPages((url) => seedPages(url, BREAKS), clock);
    const paths = ["/feed.atom", "/files/now/why.csv", "/files/errors/lines.csv"];
    const found = () => Promise.all(paths.map((path) => pages.page(path)));
    const before = await found();
    clock.afterMs = 5 * 60 * 60_000;
    expect(await found()).toEqual(before);
    const page = await pages.page("/");
    expect(textOf(mainOf(page))).toMatch(
      /; \d+ projects had a version or format that broke in the 24 hours before \d+ \w+ \d\d:\d\d, more than usual/,
    );
  });
});

/** Eight projects that failed with a new line in the hour before the last look. */
const RISING = `
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select '9' || id, date_trunc('second', now() at time zone 'utc') - interval '30 minutes', 'finished', false, 'html', id, 'v' || id, now(), now(), ''
  from mirror.projects where id::int between 501 and 508;
  insert into mirror.build_logs (build_id, error)
  select id, 'ModuleNotFoundError: No module named ''numpy.distutils''' from mirror.builds where id like '950_'`;

const PATHS = [
  ...["/", "/?show=main", "/trends", "/projects", "/projects?q=pip", "/projects?state=good"],
  ...["/errors", "/mirror", "/project/pip", "/project/daily-7", "/build/1001", "/build/1004", "/build/2000"],
];

/** What is only true while somebody looks, and a moment without its day. */
const OF_NOW = [
  /\bnow\b/,
  /\b(in the|the|,) last (24 hours|24 h|7 days|3 hours)/,
  /\b(is|are) (current|good)\b|\b(fails?|rises?) (now|too)\b|\bhave been failing\b/,
  /\b(at|since|between|until|before) \d\d:\d\d\b(?!:| and \d\d:\d\d on each)/,
];

/** The title, the header and the content of a page, and what a pointer and a screen reader have; without forms, the names of pages, SQL, and where an axis of time ends. */
function said(page: string): string {
  const shown = page
    .replace(/<nav [\s\S]*?<\/nav>|<form[\s\S]*?<\/form>|<footer[\s\S]*<\/footer>/g, "")
    .replace(/<div class="pop"[\s\S]*?<\/div><\/div>|<code>[\s\S]*?<\/code>|>now<\/text>/g, "")
    .replace(/ aria-label="More about now"/g, "");
  const labels = [...shown.matchAll(/ (?:aria-label|title)="([^"]*)"/g)].map(([, words]) => words).join("; ");
  return `${textOf(shown.replace(/<(?=[a-z/])/g, " <")).replace(/\s+/g, " ")}; ${labels}`.replaceAll(
    "\u00a0",
    " ",
  );
}

const slipsOf = (text: string, slips: readonly RegExp[]): string[] =>
  slips.flatMap((slip) => {
    const found = slip.exec(text);
    return found === null ? [] : text.slice(Math.max(0, found.index - 60), found.index + 60);
  });

const DATED = String.raw`\d+ [A-Z][a-z]{2}(?: \d{4})? \d\d:\d\d UTC`;

describe("a mirror at which nobody looked for 60 days", () => {
  const folder = useFolder("docmirror-aged-");

  it.each([
    ["some broke and a line rose", BREAKS + RISING],
    ["the builds stopped", SILENCE],
  ])("speaks of now on no page and in no file, where %s", { tags: ["long"] }, async (of, more) => {
    const clock = inHand();
    await using pages = await openMirrorPages((url) => seedPages(url, more), clock);
    const wrong: [string, string[]][] = [];
    clock.afterMs = 60 * 86_400_000;
    for (const path of PATHS.filter((path) => !path.includes("daily") || more !== SILENCE)) {
      const page = await pages.page(path);
      wrong.push([path, slipsOf(said(page), OF_NOW)]);
      expect(page, path).toContain('<a class="fresh warn"');
      expect(
        /^\/(trends|errors|build)/.test(path) || !page.includes('<section class="verdict good"'),
        path,
      ).toBe(true);
    }
    for (const afterMs of [0, 60 * 86_400_000]) {
      clock.afterMs = afterMs;
      const site = folder.at(`${of} ${afterMs}`);
      const deps = { sourceTimezone: "Etc/UTC", staleAfterMs: 86_400_000, clock, log: silentLog };
      const { signal } = new AbortController();
      await withSnapshot(pages.sql, (tx) => writeSite(tx, site, deps, { withPeople: false, signal }));
      for (const file of readdirSync(site, { recursive: true, encoding: "utf8" })) {
        if (!file.endsWith(".html") || file === "dictionary.html") continue;
        const page = readFileSync(join(site, file), "utf8");
        wrong.push([file, slipsOf(said(page), [...OF_NOW, /\bago\b/])]);
        expect(page, file).toMatch(new RegExp(`<title>[^<]* ${DATED}[^<]*</title>`));
        expect(page, file).toMatch(new RegExp(`written ${DATED}; does not renew itself`));
        expect(page, file).not.toContain('<a class="fresh good"');
        expect(
          /^(trends|errors|build)/.test(file) || !page.includes('<section class="verdict good"'),
          file,
        ).toBe(true);
      }
    }
    expect(wrong.filter(([, slips]) => slips.length > 0)).toEqual([]);
  });
});
