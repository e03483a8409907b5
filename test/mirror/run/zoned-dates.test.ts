import { describe, expect, test } from "vitest";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { editReplies, startQuickWorld } from "../../support/quick-world.ts";
import { TINY } from "../../support/service.ts";

type Spell = (date: string) => string;

/** A world of quiet nights whose dates are in UTC and spelled in another way from a moment on. */
async function startSpelled() {
  const spelling: { as: Spell } = { as: (date) => date };
  const dates = /"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?)"/g;
  const quick = await startQuickWorld(
    { ...TINY, builds: 120, timeZone: "Etc/UTC", rates: QUIET, stuckShare: 0 },
    editReplies((text) => text.replace(dates, (_, date) => JSON.stringify(spelling.as(date)))),
  );
  const stored = async () => {
    const rows = await quick.sql`
      select 'build' as of, id, date::text from mirror.builds
      union all select 'project', id, modified_date::text from mirror.projects
      union all select 'user', id, last_login::text from mirror.users order by of, id`;
    return [...rows];
  };
  return { quick, spelling, stored };
}

const MAIL: Spell = (date) => new Date(`${date}Z`).toUTCString().replace("GMT", "+0000");
const toSecond = (text: unknown) => String(text).slice(0, 19);

test("a zone that the server lacks ends a run before its first request", async () => {
  await using quick = await startQuickWorld({ users: 1, projects: 1, versions: 1, files: 1, builds: 1 });
  await expect(quick.sync({ settings: { sourceTimezone: "Mars/Phobos" } })).rejects.toMatchObject({
    hint: expect.stringContaining("DOCMIRROR_SOURCE_TIMEZONE"),
  });
  expect((await quick.sql`select from sync.runs`).length).toBe(0);
});

describe("dates that get a zone from one night to the next", () => {
  test.each<[string, Spell]>([
    ["Z", (date) => `${date}Z`],
    ["an offset", (date) => `${date}+00:00`],
    ["nine digits of fraction", (date) => `${date.includes(".") ? date : `${date}.000000`}000`],
    ["the form of RFC 2822", MAIL],
  ])("%s stay what they are in the columns, and are served as they were sent", async (_, as) => {
    const { quick, spelling, stored } = await startSpelled();
    await using _end = quick;
    await quick.sync({ kind: "full" });
    const before = await stored();
    spelling.as = as;
    quick.world.advance(86_400_000);
    const { summary } = await quick.sync({ kind: "full" });
    expect(summary).toMatchObject({ status: "succeeded", resources: { build: { walk: "whole" } } });
    expect((await stored()).map((row) => ({ ...row, date: toSecond(row.date) }))).toEqual(
      before.map((row) => ({ ...row, date: toSecond(row.date) })),
    );
    expect([...(await quick.sql`select field from sync.drift`)]).toEqual([]);
    const [row] = before;
    const [served] = await readRecords(quick.sql, "build", [String(row?.id)]);
    expect(as === MAIL ? toSecond(served?.date) : served?.date).toBe(
      as === MAIL ? toSecond(MAIL(String(row?.date))) : as(String(row?.date).replace(" ", "T")),
    );
    // The head is read by the order that the dates show.
    quick.world.triggerBuilds(3);
    quick.world.advance(60_000);
    const night = await quick.sync({ kind: "incremental" });
    const resources = { build: { walk: "head", inserted: 3 } };
    expect(night.summary).toMatchObject({ status: "succeeded", resources });
  });
});

test("a zone that is set anew moves the dates that name one, on pages that did not change too", async () => {
  const { quick, spelling, stored } = await startSpelled();
  await using _end = quick;
  spelling.as = (date) => `${date}Z`;
  await quick.sync({ kind: "full" });
  const [before] = await stored();
  quick.world.advance(86_400_000);
  const { summary } = await quick.sync({ kind: "full", settings: { sourceTimezone: "Asia/Kolkata" } });
  expect(summary.warnings).toEqual([
    expect.stringContaining("SOURCE_TIMEZONE has another value than before"),
  ]);
  const [after] = await stored();
  const ms = (text: unknown) => Date.parse(`${toSecond(text)}Z`);
  expect(ms(after?.date) - ms(before?.date)).toBe(5.5 * 3_600_000);
});
