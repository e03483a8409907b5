import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CHROMIUM, findBarriers, LOOKS, overflow, startBrowser, visit } from "../support/browser.ts";
import { createTestDatabase } from "../support/database.ts";
import { HOSTILE_SLUGS, seedPages, servePages } from "../support/served-pages.ts";

/** What is to be closed at the end, in the order in which it was opened. */
const opened: AsyncDisposable[] = [];
let browser: Browser;
let url: string;

async function serveSeeded(): Promise<string> {
  const database = await createTestDatabase();
  opened.push(database);
  await seedPages(database.url);
  const served = await servePages(database.url);
  opened.push(served);
  return served.url;
}

/** What the charts of a block tell a mouse, one line a day, and what its table says; both oldest first. */
async function readBlock(page: Page, block: string): Promise<{ told: string[]; rows: string[][] }> {
  const words = await page.locator(`#${block} .chart-wide path > title`).allTextContents();
  const cells = await page.locator(`#${block} tbody tr > *`).allTextContents();
  const width = await page.locator(`#${block} thead th`).count();
  const rows = Array.from({ length: cells.length / width }, (_, row) =>
    cells.slice(row * width, (row + 1) * width),
  );
  return { told: words.filter((text) => /^\d/.test(text)), rows: rows.reverse() };
}

describe.skipIf(CHROMIUM === null)(
  "the report page in Chromium (CHROMIUM_PATH, where it is not found)",
  () => {
    beforeAll(async () => {
      [url, browser] = await Promise.all([serveSeeded(), startBrowser()]);
      opened.push(browser);
    });

    afterAll(async () => {
      for (const thing of opened.reverse()) await thing[Symbol.asyncDispose]();
    });

    it.each(Object.entries(LOOKS))("is whole, quiet and free of barriers %s", async (name, look) => {
      await using visited = await visit(browser, url, look);
      const { page, faults } = visited;
      await page.evaluate(openAll);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      const [shown, hidden] = name === "on a phone" ? ["narrow", "wide"] : ["wide", "narrow"];
      expect(await page.locator(`.chart-${shown}:visible`).count()).toBe(3);
      expect(await page.locator(`.chart-${hidden}:visible`).count()).toBe(0);
      expect(faults).toEqual([]);
    });

    it("says the same in its charts and in their tables", async () => {
      await using visited = await visit(browser, url);
      const { page } = visited;
      const still = (isFinal: string | undefined) => (isFinal === "yes" ? "" : "; may still change");
      const rates = await readBlock(page, "success-rate");
      expect(rates.rows.length).toBeGreaterThan(28);
      expect(rates.told).toEqual(
        rates.rows.map(([day, rate, interval, finished, , isFinal]) =>
          rate === ""
            ? `${day}: nothing finished`
            : `${day}: ${rate} (${interval}) of ${finished} finished builds${still(isFinal)}`,
        ),
      );
      const rated = rates.rows.filter(([, rate]) => rate !== "");
      expect(await page.locator("#success-rate .chart-wide path[d*='A']").count()).toBe(rated.length);
      const volumes = await readBlock(page, "volume");
      expect(volumes.told).toEqual(
        volumes.rows.map(
          ([day, builds, succeeded, failed, unfinished, isFinal]) =>
            `${day}: ${builds} builds, ${succeeded} succeeded, ${failed} failed, ${unfinished} not finished${still(isFinal)}`,
        ),
      );
      const times = await readBlock(page, "durations");
      expect(times.told).toEqual(
        times.rows.map(([day, finished, p50, , p95, isFinal]) =>
          p50 === ""
            ? `${day}: nothing finished`
            : `${day}: ${finished} finished builds, median ${p50}, 95th percentile ${p95}${still(isFinal)}`,
        ),
      );
    });

    it.each([
      ["with JavaScript", true],
      ["without JavaScript", false],
    ])(
      "is narrowed by a filled-in form and by a link %s",
      { tags: ["long"] },
      async (_, javaScriptEnabled) => {
        await using visited = await visit(browser, url, { javaScriptEnabled });
        const { page, faults } = visited;
        const day = await page.locator("#volume tbody time").nth(6).getAttribute("datetime");
        await page.getByLabel("Since").fill(day ?? "");
        await page.getByRole("button", { name: "Apply" }).click();
        expect(new URL(page.url()).searchParams.get("since")).toBe(day);
        const { told, rows } = await readBlock(page, "volume");
        expect([told.length, rows.length, rows[0]?.[0]]).toEqual([7, 7, day]);
        await page.getByRole("link", { name: "30 days" }).click();
        expect((await readBlock(page, "volume")).rows).toHaveLength(30);
        const sql = page.locator("#volume .sql");
        await sql.locator("summary").click();
        await expect.poll(() => sql.locator("pre").isVisible()).toBe(true);
        expect(faults).toEqual([]);
      },
    );

    it("leads from the search to a project, however it is called, and on to a build", {
      tags: ["long"],
    }, async () => {
      await using visited = await visit(browser, url, LOOKS["on a phone"]);
      const { page, faults } = visited;
      await page.getByLabel("Project or build").fill(HOSTILE_SLUGS.script);
      await page.getByRole("button", { name: "Find" }).click();
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(HOSTILE_SLUGS.script);
      await page.evaluate(openAll);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      const build = page.locator("#last-builds tbody a").first();
      const id = await build.textContent();
      await build.click();
      expect(await page.getByRole("heading", { level: 1 }).textContent()).toBe(`Build ${id}`);
      await page.evaluate(openAll);
      expect(await findBarriers(page)).toEqual([]);
      expect(await overflow(page)).toBeLessThanOrEqual(0);
      expect(faults).toEqual([]);
    });

    it("gives a page to a mistyped name too", { tags: ["long"] }, async () => {
      await using visited = await visit(browser, url, LOOKS["in the dark"]);
      const { page } = visited;
      await page.goto(`${url}/project/%3Cscript%3Ealert(1)%3C`);
      expect(await page.getByRole("link", { name: HOSTILE_SLUGS.script }).count()).toBe(1);
      expect(await findBarriers(page)).toEqual([]);
    });
  },
);

/** Unfolds what is folded, so that it is looked at too. */
function openAll(): void {
  const { document } = globalThis as unknown as {
    document: { querySelectorAll(selector: string): Iterable<{ open: boolean }> };
  };
  for (const details of document.querySelectorAll("details")) details.open = true;
}
