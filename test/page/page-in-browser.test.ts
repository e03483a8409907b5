import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { projectHref } from "../../src/page/parts/links.ts";
import { CHROMIUM, findBarriers, findUnreadable, overflow, startBrowser, visit } from "../support/browser.ts";
import { findClashes } from "../support/docker.ts";
import { HELD } from "../support/leases.ts";
import { type MirrorPages, openMirrorPages } from "../support/mirror-pages.ts";
import { HOSTILE_SLUGS, SILENCE, seedPages } from "../support/served-pages.ts";

let pages: MirrorPages;
let browser: Browser;
const WIDTHS = [360, 768, 1024, 1280, 1440];
interface Look {
  width: number;
  colorScheme: "light" | "dark";
}

/** A width does not change colours, nor a colour boxes, and what is too wide between them shows at CONTROL_WIDTHS: two looks see what all would. */
const LOOKS: readonly Look[] = [
  { width: 360, colorScheme: "dark" },
  { width: 1440, colorScheme: "light" },
];
/** Where controls lay on each other before. 640 px is also a window of 1280 px at a zoom of 200 %. */
const CONTROL_WIDTHS = [320, 360, 390, 480, 600, 640, 700, 768];
/** A small phone, a window at a zoom of 200 %, a laptop, a large screen. */
const BARRIER_WIDTHS = [320, 640, 1280, 2560];
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const PATHS = [
  ...[
    "/",
    `/?day=${YESTERDAY}`,
    "/trends",
    "/trends?since=3d&type=html",
    "/trends?type=nosuch",
    "/mirror",
    "/dictionary",
  ],
  ...[
    "/projects",
    "/projects?q=nosuch",
    "/projects?q=pip&state=good&sort=rate",
    "/projects?q=2000&state=nosuch",
  ],
  ...[
    "/project/pip",
    "/project/pip?version=latest&type=html&page=2&versions=all",
    "/project/pip?version=latst",
  ],
  ...["/project/quiet-1", projectHref(HOSTILE_SLUGS.long)],
  ...["/build/1001", "/build/1004", "/build/2000", "/build/h11"],
  ...["/errors", "/errors?since=30d&kind=vcs&sort=newest", "/errors?kind=nosuch"],
];

/** Projects that were never built: enough for a second page of the list. */
const QUIET = `
  insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
  select (200 + n)::text, 'quiet-' || n, 'Quiet ' || n, 'list', true, now(), now(), '' from generate_series(1, 30) as n;`;

/** Projects with more names below their error line than a row has room for. */
const KEEPERS = `
  insert into mirror.users (id, username, first_name, first_seen_at, changed_at, record_hash)
  values ('1', 'a.person.with.a.rather.long.name', '', now(), now(), '');
  insert into mirror.project_users (project_id, position, user_uri, user_id)
  select id, 0, '/api/v1/user/1/', '1' from mirror.projects where id::int between 11 and 20;
  insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash)
  select id || 'pdf', date - interval '9 days', state, success, 'pdf', project_id, version_id, now(), now(), ''
  from mirror.builds where id like 'h%'`;

/** A first sync that began 100 s ago: one list is read, another is half read. */
const FIRST_SYNC = `
  ${HELD("run")}
  insert into sync.runs (term, kind, status, started_at, heartbeat_at, pid, host)
  values (1, 'full', 'running', now() - interval '100 s', now(), 1, 'test');
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

function lookOf({ width, colorScheme }: Look): BrowserContextOptions {
  return { viewport: { width, height: 900 }, colorScheme, hasTouch: width < 700, javaScriptEnabled: true };
}

const open = (path: string, width: number, colorScheme: Look["colorScheme"] = "light") =>
  visit(browser, pages.url + path, lookOf({ width, colorScheme }));
const openWithoutScript = (path: string, width: number) =>
  visit(browser, pages.url + path, { ...lookOf({ width, colorScheme: "light" }), javaScriptEnabled: false });

describe.skipIf(CHROMIUM === null)(
  "the report page in Chromium (CHROMIUM_PATH, where it is not found)",
  () => {
    beforeAll(async () => {
      const opened = openMirrorPages((url) => seedPages(url, QUIET + KEEPERS));
      [pages, browser] = await Promise.all([opened, startBrowser()]);
    });
    afterAll(async () => {
      await browser?.close();
      await pages?.[Symbol.asyncDispose]();
    });

    /** All that is wrong with these pages in one look, and at these widths with their folds closed and open. */
    async function findFaults(paths: readonly string[], look: Look, widths: readonly number[]) {
      await using visited = await open("", look.width, look.colorScheme);
      const { page, faults } = visited;
      const found = new Set<string>();
      for (const path of paths) {
        await page.goto(pages.url + path);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          for (const fault of await findClashes(page)) found.add(`${path} at ${width} px: ${fault}`);
        }
        await page.evaluate(openAll);
        for (const width of [...widths, look.width]) {
          await page.setViewportSize({ width, height: 900 });
          if (width < 1000)
            for (const fault of await findClashes(page)) found.add(`${path}, open, at ${width} px: ${fault}`);
          const wider = await overflow(page);
          if (wider > 0) found.add(`${path} at ${width} px: ${wider} px too wide`);
          for (const fault of await findUnreadable(page)) found.add(`${path} at ${width} px: ${fault}`);
        }
        for (const width of BARRIER_WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          for (const barrier of await findBarriers(page)) found.add(`${path} at ${width} px: ${barrier}`);
        }
        await page.setViewportSize({ width: 320, height: 900 });
        await page.emulateMedia({ media: "print" });
        const wider = await overflow(page);
        if (wider > 0) found.add(`${path} on paper of 320 px: ${wider} px too wide`);
        for (const fault of await findUnreadable(page)) found.add(`${path} on paper: ${fault}`);
        await page.emulateMedia({ media: "screen" });
      }
      return [...found, ...faults];
    }

    it.each(LOOKS)("every other page is whole, quiet, free of barriers and of clashes at $width px", {
      tags: ["long"],
    }, async (look) => {
      const isOurs = (_: string, place: number) => place % 2 === LOOKS.indexOf(look);
      expect(await findFaults(PATHS.filter(isOurs), look, [320, 700])).toEqual([]);
    });

    it.each(LOOKS)("each page is that at $width px, also at each width where controls met before", {
      tags: ["long", "exhaustive"],
    }, async (look) => {
      expect(await findFaults(PATHS, look, CONTROL_WIDTHS)).toEqual([]);
    });

    it("shows the verdict in the first 400 px, what broke soon below, and two lines for a project that fails, three with what is older and worse", {
      tags: ["long"],
    }, async () => {
      await using visited = await open("", 1440);
      const { page, faults } = visited;
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await bottomOf(page, "h1"), `${width} px`).toBeLessThan(400);
        // Lines about why, what has not finished and what was fixed stand beside the list, or below it.
        const first = await bottomOf(page, ".fails > li .name > a");
        expect(first, `${width} px`).toBeLessThan(width < 704 ? 600 : 750);
        // So do the filters on a phone, until one is chosen.
        expect((await bottomOf(page, "#failing .bar")) > first, `${width} px`).toBe(width < 704);
        expect(await overflow(page), `${width} px`).toBeLessThanOrEqual(0);
      }
      await page.setViewportSize({ width: 360, height: 900 });
      await page.goto(`${pages.url}/project/pip`);
      expect(await bottomOf(page, "h1")).toBeLessThan(400);
      expect(await bottomOf(page, ".strip > li > a")).toBeLessThan(900);
      for (const path of ["/", `/?day=${YESTERDAY}`]) {
        await page.goto(pages.url + path);
        for (const width of [1024, 1130, 1440]) {
          await page.setViewportSize({ width, height: 900 });
          const heights = await page
            .locator(".fails > li")
            .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
          expect(heights.length).toBeGreaterThan(5);
          expect(Math.min(...heights), `${path} at ${width} px`).toBeLessThan(62);
          expect(Math.max(...heights), `${path} at ${width} px`).toBeLessThan(80);
          // The reason has its own line, so nothing is cut of it.
          const cut = await page
            .locator(".fails .why")
            .evaluateAll((all) => all.filter((why) => why.scrollWidth > why.clientWidth).length);
          expect(cut, `${path} at ${width} px`).toBe(0);
        }
      }
      expect(faults).toEqual([]);
    });

    it("shows the worst mark, what is chosen and the line of the error in forced colours", {
      tags: ["long"],
    }, async () => {
      const options = { ...lookOf({ width: 1280, colorScheme: "light" }), forcedColors: "active" } as const;
      await using visited = await visit(browser, `${pages.url}/projects`, options);
      const pairs: [string, string, string][] = await visited.page.evaluate(`
        [...document.querySelectorAll(".st.bad, .chips [aria-current]")].map((one) => [
          getComputedStyle(one).backgroundColor,
          getComputedStyle(one.querySelector(".i") ?? one).color,
          getComputedStyle(document.body).backgroundColor,
        ])`);
      expect(pairs.length).toBeGreaterThan(1);
      await visited.page.goto(`${pages.url}/build/1004`);
      const [hit, page] = await visited.page.evaluate<string[]>(
        `[".l.hit", "html"].map((one) => getComputedStyle(document.querySelector(one)).backgroundColor)`,
      );
      expect(hit).not.toBe(page);
      for (const colours of pairs) expect(new Set(colours.slice(0, 2)).size).toBe(2);
      for (const [background, , page] of pairs) expect(background).not.toBe(page);
    });

    it("has what has not finished as a line below the list on a phone, which opens without JavaScript", {
      tags: ["long"],
    }, async () => {
      await using visited = await openWithoutScript("", 390);
      const { page } = visited;
      const glance = page.getByRole("region", { name: "At a glance" });
      const line = glance.locator("summary", { hasText: "Not finished" });
      const list = await bottomOf(page, ".fails > li .name > a");
      expect(await bottomOf(page, ".glance summary:has-text('Not finished')")).toBeGreaterThan(list);
      expect(await bottomOf(page, "[aria-label='Which day']")).toBeGreaterThan(list);
      expect(await glance.locator(".rows").isVisible()).toBe(false);
      await line.press("Enter");
      await expect.poll(() => glance.locator(".rows").isVisible()).toBe(true);
      expect(await page.getByRole("complementary").isVisible()).toBe(false);
      await page.setViewportSize({ width: 1280, height: 900 });
      expect(await glance.isVisible()).toBe(false);
      expect(await page.getByRole("complementary").isVisible()).toBe(true);
    });

    it("opens a block's SQL, and filters, by keyboard, without JavaScript", { tags: ["long"] }, async () => {
      await using visited = await openWithoutScript("", 1440);
      const { page } = visited;
      const sql = page.locator("#sql-failing");
      expect(await sql.isVisible()).toBe(false);
      await page.getByRole("button", { name: "SQL of Failing now" }).press("Enter");
      await expect.poll(() => sql.isVisible()).toBe(true);
      expect(await sql.locator("pre").textContent()).toContain("from report.failing_projects");
      await page.keyboard.press("Escape");
      await expect.poll(() => sql.isVisible()).toBe(false);
      await page.getByRole("link", { name: "Failing versions never worked" }).press("Enter");
      await page.waitForURL("**/?show=never");
      await page.getByLabel("Why", { exact: true }).selectOption("unclassified");
      await page.getByRole("button", { name: "Show" }).press("Enter");
      await page.waitForURL("**/?show=never&why=unclassified");
    });

    it("has forms that choose and search by keyboard, without JavaScript", { tags: ["long"] }, async () => {
      await using visited = await openWithoutScript("/projects?state=unknown&sort=name&page=2", 1440);
      const { page, faults } = visited;
      const list = page.getByRole("table");
      const order = list.getByRole("columnheader", { name: "Project" });
      expect(await order.getAttribute("aria-sort")).toBe("ascending");
      await page.getByLabel("A part of the name, a maintainer, or a build number").fill("QUIET-2");
      await page.keyboard.press("Enter");
      await page.waitForURL("**/projects?state=unknown&sort=name&q=QUIET-2");
      expect(await list.getByRole("rowheader").count()).toBe(11);
      await page.goto(`${pages.url}/trends`);
      await page.getByLabel("Format", { exact: true }).selectOption("html");
      await page.getByRole("button", { name: "Show" }).press("Enter");
      await page.waitForURL(/type=html/);
      await page.goto(`${pages.url}/errors?kind=vcs`);
      await page.getByText("1 project", { exact: false }).first().press("Enter");
      expect(await page.locator("details.also").first().getAttribute("open")).not.toBeNull();
      await page.getByPlaceholder("Project, name or build").fill("script>alert");
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: HOSTILE_SLUGS.script }).first().click();
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toContain(HOSTILE_SLUGS.script);
      expect(faults).toEqual([]);
    });

    it("names each column of a card, shows the button of the search at its tab stop, and prints a dark page as a light one", {
      tags: ["long"],
    }, async () => {
      await using visited = await open("/projects", 390, "dark");
      const { page } = visited;
      for (const name of ["Project", "State", "Succeeded", "Last build"])
        expect(await page.getByRole("columnheader", { name }).count(), name).toBe(1);
      await page.emulateMedia({ media: "print", colorScheme: "dark" });
      const colours = ["--warn", "--warn-mark", "--warn-tint", "--bad-tint", "--idle", "--hl"];
      const shown = () =>
        page.evaluate<string[]>(
          `${JSON.stringify(colours)}.map((name) => getComputedStyle(document.documentElement).getPropertyValue(name))`,
        );
      const dark = await shown();
      await page.emulateMedia({ media: "print", colorScheme: "light" });
      expect(dark).toEqual(await shown());
      await page.emulateMedia({ media: "screen" });
      await page.setViewportSize({ width: 1280, height: 900 });
      const find = page.locator(".find button");
      expect((await find.boundingBox())?.width).toBeLessThan(2);
      await find.focus();
      expect((await find.boundingBox())?.width).toBeGreaterThan(30);
    });

    it("opens the fold of a line of the log, and highlights the line", { tags: ["long"] }, async () => {
      await using visited = await open("/build/1004", 360);
      const { page, faults } = visited;
      const line = page.locator("#error-1");
      expect(await line.isVisible()).toBe(false);
      await page.getByRole("link", { name: "Line 1 of the errors" }).click();
      await expect.poll(() => line.isVisible()).toBe(true);
      expect(page.url()).toMatch(/#error-1$/);
      const colours = await line.evaluate((node) => {
        const { getComputedStyle } = globalThis as unknown as {
          getComputedStyle(node: unknown): { backgroundColor: string };
        };
        return getComputedStyle(node).backgroundColor;
      });
      expect(colours).toBe("rgb(255, 233, 168)");
      // The same from elsewhere.
      await page.goto("about:blank");
      await page.goto(`${pages.url}/build/1004#error-1`);
      await expect.poll(() => line.isVisible()).toBe(true);
      expect(faults).toEqual([]);
    });

    it.each([
      { name: "a line that rises", heading: /^“No module/, path: "/errors", seed: RISING },
      { name: "a silence", heading: /^No build/, seed: SILENCE },
      { name: "the first sync", heading: /^First sync/, more: FIRST_SYNC },
      { name: "a mirror that was never synced", heading: /./ },
    ])("$name, which few see, is free of barriers and of clashes", { tags: ["long"] }, async ({
      seed,
      more,
      heading,
      path = "/",
    }) => {
      await using rare = await openMirrorPages(
        seed === undefined ? undefined : (url) => seedPages(url, seed),
      );
      if (more !== undefined) await rare.sql.unsafe(more);
      for (const [place, width] of [320, 1280].entries()) {
        const colorScheme = place % 2 ? "light" : "dark";
        const options = { viewport: { width, height: 900 }, colorScheme } as const;
        await using visited = await visit(browser, rare.url + path, options);
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
  },
);

/** The lower end of the first of such elements, in pixels. */
async function bottomOf(page: Page, selector: string): Promise<number> {
  const box = await page.locator(selector).first().boundingBox();
  return box === null ? Number.POSITIVE_INFINITY : box.y + box.height;
}

/** Unfolds what is folded, so that it is looked at too. */
function openAll(): void {
  const { document } = globalThis as unknown as {
    document: { querySelectorAll(selector: string): Iterable<{ open: boolean }> };
  };
  for (const details of document.querySelectorAll("details")) details.open = true;
}
