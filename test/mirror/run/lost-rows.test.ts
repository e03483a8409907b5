/** Rows that are lost here: by a bad block, by one table that was restored alone, by a wrong statement. */
import { expect, test } from "vitest";
import { findListFreshness } from "../../../src/store/ledger/list-freshness.ts";
import { startArranged } from "../../support/arranged-builds.ts";
import type { QuickWorld } from "../../support/quick-world.ts";

const DAY_MS = 86_400_000;
const WORLD = { users: 2, projects: 4, versions: 60, files: 2, builds: 200 };

async function lose({ sql }: QuickWorld, build: string, version: string): Promise<void> {
  await sql`delete from mirror.versions where id = ${version}`;
  for (const table of ["build_logs", "build_transitions"])
    await sql`delete from mirror.${sql(table)} where build_id = ${build}`;
  await sql`delete from mirror.builds where id = ${build}`;
}

/** An old build and a version that nothing refers to by a key of its own. */
async function drawn({ sql }: QuickWorld) {
  const [build] = await sql<{ id: string }[]>`select id from mirror.builds order by date limit 1 offset 100`;
  const [version] = await sql<{ id: string }[]>`
    select id from mirror.versions where id not in (select version_id from mirror.builds where version_id is not null) limit 1`;
  return { build: build?.id ?? "", version: version?.id ?? "" };
}

const rowsOf = async ({ sql }: QuickWorld, { build, version }: { build: string; version: string }) => {
  const [row] = await sql`
    select (select count(*) from mirror.builds where id = ${build}) as builds,
      (select count(*) from mirror.versions where id = ${version}) as versions`;
  return row;
};

test.for([
  ["a full walk", { pageSize: 20 }, "full", 1],
  ["a round", { pageSize: 20, fullEveryDays: 3 }, null, 3],
] as const)("%s brings them back, though each page has the bytes of the night before", {
  tags: ["long"],
}, async ([, settings, kind, nights]) => {
  await using quick = await startArranged(WORLD);
  expect((await quick.sync({ kind: "full", settings })).summary.status).toBe("succeeded");
  const ids = await drawn(quick);
  await lose(quick, ids.build, ids.version);
  for (let night = 0; night < nights; night++) {
    quick.world.advance(DAY_MS);
    expect((await quick.sync({ kind, settings })).summary).toMatchObject({
      status: "succeeded",
      unfinished: { deficit: 0 },
    });
  }
  expect(await rowsOf(quick, ids)).toEqual({ builds: 1, versions: 1 });
  const [list] = await quick.sql`select live from sync.lists where resource = 'build'`;
  expect(list).toEqual({ live: WORLD.builds });
  const build = (await findListFreshness(quick.sql)).find(({ resource }) => resource === "build");
  expect(quick.world.now().getTime() - Date.parse(build?.startedAt ?? "")).toBeLessThan(DAY_MS);
});

test("a row that is lost while its list is read is a reason, and is here again the next night", {
  tags: ["long"],
}, async () => {
  await using quick = await startArranged(WORLD);
  const settings = { pageSize: 20 };
  expect((await quick.sync({ kind: "full", settings })).summary.status).toBe("succeeded");
  const ids = await drawn(quick);
  let lost: Promise<void> | null = null;
  // The pages that are remembered were looked at before the second one is asked for.
  Object.defineProperty(quick.arranged, "held", {
    get() {
      if (/version.*offset=[1-9]/.test(quick.arranged.asked.at(-1) ?? ""))
        lost ??= lose(quick, "", ids.version);
      return lost;
    },
  });
  quick.world.advance(DAY_MS);
  const reason = expect.stringContaining("1 version that it shows is not here");
  expect((await quick.sync({ kind: "full", settings })).summary).toMatchObject({
    status: "partial",
    resources: { version: { walk: "whole", reason } },
  });
  quick.world.advance(DAY_MS);
  expect((await quick.sync({ kind: "full", settings })).summary.status).toBe("succeeded");
  expect(await rowsOf(quick, ids)).toEqual({ builds: 1, versions: 1 });
});
