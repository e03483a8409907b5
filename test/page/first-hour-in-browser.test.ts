import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, findBarriers, overflow, startBrowser, visit } from "../support/browser.ts";
import { findClashes } from "../support/docker.ts";
import { openMirrorPages } from "../support/mirror-pages.ts";
import { SILENCE, seedPages } from "../support/served-pages.ts";

/** A first sync that began 100 s ago: one list is read, another is half read. */
const FIRST_SYNC = `
  insert into sync.runs (kind, status, started_at, heartbeat_at, pid, host)
  values ('full', 'running', now() - interval '100 s', now(), 1, 'test');
  insert into sync.walks (run_id, began_run_id, resource, walk, started_at, finished_at, checkpoint_at, checkpoint, records, total_count)
  values (1, 1, 'user', 'whole', now() - interval '100 s', now() - interval '98 s', null, null, 400, 400),
    (1, 1, 'build', null, now() - interval '100 s', null, now() - interval '1 s', '{}', 7000, 17000)`;

/** Eight projects that failed with a new line in the last hour. */
const RISING = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select n::text, 'rising-' || n, 'Rising', 'list', true, now(), now(), '' from generate_series(401, 408) as n;
  insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
  select 'v' || id, 'latest', id, now(), now(), '' from mirror.projects where slug like 'rising-%';
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select '9' || id, date_trunc('second', now() at time zone 'utc') - interval '30 minutes', 'finished', false, 'html', id, 'v' || id, now(), now(), ''
  from mirror.projects where slug like 'rising-%';
  insert into mirror.build_logs (build_id, error)
  select id, 'ModuleNotFoundError: No module named ''numpy.distutils''' from mirror.builds where id like '940_'`;

let browser: Browser;

describe.skipIf(CHROMIUM === null)("pages that few see, in Chromium", { tags: ["long"] }, () => {
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    {
      name: "a line that rises",
      heading: /^“No module/,
      path: "/errors",
      fill: (url: string) => seedPages(url, RISING),
    },
    { name: "a silence", heading: /^No build/, fill: (url: string) => seedPages(url, SILENCE) },
    { name: "the first sync", heading: /^First sync/, more: FIRST_SYNC },
    { name: "a mirror that was never synced", heading: /./ },
  ])("$name is free of barriers and of clashes", async ({ fill, more, heading, path = "/" }) => {
    await using pages = await openMirrorPages(fill);
    if (more !== undefined) await pages.asOwner((sql) => sql.unsafe(more));
    for (const [width, colorScheme] of [
      [320, "dark"],
      [390, "light"],
      [768, "dark"],
      [1280, "light"],
    ] as const) {
      await using visited = await visit(browser, pages.url + path, {
        viewport: { width, height: 900 },
        colorScheme,
      });
      const { page, faults } = visited;
      expect((await page.getByRole("heading", { level: 1 }).textContent())?.trim()).toMatch(heading);
      expect(await findBarriers(page), `${width} px`).toEqual([]);
      if (width < 1000) expect(await findClashes(page), `${width} px`).toEqual([]);
      expect(await overflow(page), `${width} px`).toBeLessThanOrEqual(0);
      const hidden = page.locator(".stack thead a:visible");
      if (width < 700) expect(await hidden.count()).toBe(0);
      expect(faults).toEqual([]);
    }
  });
});
