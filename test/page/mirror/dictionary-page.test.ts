import { describe, expect, it } from "vitest";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, textOf } from "../../support/page-text.ts";

const pages = usePages();

describe("the page of the dictionary", () => {
  it("says what each column of each relation means, before the first sync too; the foot of every page leads there", async () => {
    const page = await pages.page("/dictionary");
    const block = textOf(blockOf(page, "dictionary"));
    // What a relation answers is seen before it is opened.
    expect(page).toMatch(
      /<summary><code>arrivals<\/code> <small[^>]*>Do builds arrive as usual\?.*?<\/summary>/s,
    );
    expect(block).toMatch(/failing_now.*project_slug.*text/s);
    expect(block).toContain(
      "The shortest time from trigger to finish, in seconds; null while it has not finished.",
    );
    expect(await pages.page("/")).toContain('<a href="/dictionary">What each column means</a>');
  });

  it("offers its rows as files, and its SQL", async () => {
    const page = await pages.page("/dictionary");
    const { dictionary } = await offeredRows(pages, page);
    const columns = Object.values(DICTIONARY).flatMap((one) => Object.keys(one.columns));
    expect(dictionary?.length).toBe(columns.length);
  });
});
