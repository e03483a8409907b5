import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type MirrorPages, openMirrorPages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { SILENCE, seedPages } from "../../support/served-pages.ts";

let pages: MirrorPages;

beforeAll(async () => {
  pages = await openMirrorPages((url) => seedPages(url, SILENCE));
});
afterAll(() => pages?.[Symbol.asyncDispose]());

describe("the page of now, when nothing is built any more", () => {
  it("says so first, since when and what is usual, and claims nothing of now", async () => {
    const page = await pages.page("/");
    const main = textOf(mainOf(page));
    expect(main).toMatch(/No build since \d\d:\d\d\. Usually 31 arrive by now\./);
    expect(main).toMatch(/31 (to 32 )?came between/);
    expect(main).toContain("So the builds stopped there, not here.");
    expect(page).toMatch(/<title>! No build since \d\d:\d\d · docmirror<\/title>/);
    expect(page).toContain('<section class="verdict bad"');
    expect(textOf(blockOf(page, "failing"))).toMatch(/Failing at \d\d:\d\d/);
    expect(main).not.toContain("Failing now");
    expect(main).toMatch(/Arrived since \d\d:\d\d/);
  });

  it("draws the hours of the day, with what is usual, and says when it is red", async () => {
    const block = blockOf(await pages.page("/"), "arrivals");
    expect(block.match(/<tr><th scope="row">/g)).toHaveLength(24);
    expect(block).toMatch(/class="band"/);
    // Five whole hours at least have none.
    expect(block.match(/<circle class="zero" cx="[\d.]+%"/g)?.length).toBeGreaterThanOrEqual(5);
    expect(textOf(block)).toContain("None came for twice the longest gap of 28 days");
    expect(block).toContain('href="/files/now/arrivals.csv"');
  });

  it("says nothing of arrivals when the mirror looks no more", async () => {
    const looked =
      "update sync.walks set started_at = started_at - interval '7 minutes' where walk = 'head';";
    await using blind = await openMirrorPages((url) => seedPages(url, `${SILENCE}; ${looked}`));
    const away = textOf(mainOf(await blind.page("/")));
    expect(away).not.toContain("No build since");
    expect(away).toContain("Failing now");
    expect(away).not.toContain("arrive as usual");
  });
});
