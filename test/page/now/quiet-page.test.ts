import { describe, expect, it } from "vitest";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { blockOf, mainOf, textOf } from "../../support/page-text.ts";
import { SILENCE, seedPages } from "../../support/served-pages.ts";

const pages = usePages((url) => seedPages(url, SILENCE));

describe("the page of now, when nothing is built any more", () => {
  it("says so first, since when and what is usual, and claims nothing of now", async () => {
    const page = await pages.page("/");
    const main = textOf(mainOf(page));
    expect(main).toMatch(/No build since \d\d:\d\d\. Usually 31 arrive by now\./);
    expect(main).toMatch(/31 (to 32 )?came between/);
    expect(main).toContain("So the builds stopped there, not here.");
    expect(page).toMatch(/<title>! No build since \d\d:\d\d · docmirror<\/title>/);
    expect(page).toContain('<section class="verdict bad"');
    const failing = textOf(blockOf(page, "failing"));
    expect(failing).toMatch(/Failing at \d\d:\d\d \d+ projects/);
    expect(failing).not.toContain("last 24 hours");
    expect(main).not.toContain("Failing now");
    expect(main).toMatch(/Arrived since \d\d:\d\d/);
  });

  it("says beside the list what was checked and when it is red, and nothing of the 24 hours", async () => {
    const page = await pages.page("/");
    const checked = textOf(blockOf(page, "checked")).replace(/\s+/g, " ");
    expect(checked).toMatch(/The mirror looks ?(<|\d+) ?\d* ?min ?2 looks since \d\d:\d\d, none failed/);
    expect(checked).toContain("it has not said how many builds it has");
    expect(checked).toMatch(/Builds arrive ?0 ?none triggered since \d\d:\d\d/);
    expect(checked).toMatch(/1 in progress ?5 h ?1 of them stuck/);
    expect(textOf(blockOf(page, "rules"))).toContain("None came for twice the longest gap of 28 days");
    for (const href of ["#checked", "#rules"]) expect(page).toContain(`<a href="${href}">`);
    expect(page).not.toMatch(/id="(why|fixed|stuck)"|At a glance/);
  });

  it("draws the hours of the day, with what is usual", async () => {
    const block = blockOf(await pages.page("/"), "arrivals");
    expect(block.match(/<tr><th scope="row">/g)).toHaveLength(24);
    expect(block).toMatch(/class="band"/);
    // Five whole hours at least have none.
    expect(block.match(/<circle class="zero" cx="[\d.]+%"/g)?.length).toBeGreaterThanOrEqual(5);
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
