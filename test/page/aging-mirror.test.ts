/** A mirror that nobody syncs: the clock goes on, the data does not, and no page may look better for it. */
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
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
const STALE_MS = 30 * 60 * 60_000;

/** The words of the page of now that may not become better: its verdict, its figures without ages, and what stands below. */
function wordsOf(page: string) {
  const [, look] = /<section class="verdict (\w+)"/.exec(page) ?? [];
  const [, tick] = /<a class="fresh (\w+)"/.exec(page) ?? [];
  const figures = textOf(page.split('<dl class="figures')[1]?.split("</dl>")[0] ?? "");
  const [broke] = /\d+ projects broke/.exec(textOf(mainOf(page))) ?? [];
  const counts = ["failing", "why", "fixed", "stuck"].map((id) =>
    textOf(/<span class="count">(.*?)<\/span>/.exec(blockOf(page, id))?.[1] ?? ""),
  );
  const still = figures.replace(
    /(last|those) 24 hours|(now|then)(?=\d)|\d+ [A-Z][a-z]{2} (?=\d\d:)|\d\d:\d\d/g,
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
  { of: "nothing new", more: "", first: "flat", tags: MORE },
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
      // The last two looks at the builds were an hour apart.
      expect(now.tick, `${ms / STEP_MS} steps`).toBe(ms > 2 * 60 * 60_000 ? "warn" : now.tick);
    }
  });
});

describe("a mirror of which nobody asked for 20 hours", () => {
  it("names the end of its day, has its feed and errors as they were, and an amber tick", async () => {
    const clock = inHand();
    await using pages = await openMirrorPages((url) => seedPages(url, BREAKS), clock);
    const paths = ["/feed.atom", "/files/now/why.csv", "/files/errors/lines.csv"];
    const found = () => Promise.all(paths.map((path) => pages.page(path)));
    const before = await found();
    clock.afterMs = 20 * 60 * 60_000;
    expect(await found()).toEqual(before);
    const page = await pages.page("/");
    expect(page).toContain('<a class="fresh warn"');
    expect(textOf(mainOf(page))).toMatch(
      /projects broke in the 24 hours before \d+ \w+ \d\d:\d\d, more than usual/,
    );
  });
});
