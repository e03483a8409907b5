import { expect, test } from "vitest";
import { QUIET } from "../../../src/simulate/settings.ts";
import { editPages, editReplies, startQuickWorld } from "../../support/quick-world.ts";

test("a page with a record that cannot be stored is read again every night, partial each time, until it can be", async () => {
  let isBroken = true;
  const few = { users: 30, projects: 3, versions: 3, files: 0, builds: 0, rates: QUIET };
  await using quick = await startQuickWorld(
    few,
    editPages("user", ([first]) => isBroken && delete first?.id),
  );
  const settings = { pageSize: 100 };
  const night = async () => (await quick.sync({ kind: "full", resources: ["user"], settings })).summary;
  for (let count = 1; count <= 2; count++) {
    const { status, resources } = await night();
    expect(status).toBe("partial");
    expect(resources.user).toMatchObject({ walk: "not_whole", quarantined: 1, records: 29 });
  }
  isBroken = false;
  const expected = { status: "succeeded", resources: { user: { inserted: 1, records: 30 } } };
  expect(await night()).toMatchObject(expected);
  expect(await quick.sql`select 1 from sync.quarantine`).toHaveLength(1);
});

test("a record in quarantine is resolved by the run in which it comes well", { tags: ["long"] }, async () => {
  const depth = 50_000;
  let isBroken = true;
  const deep = `{"deep":${"[".repeat(depth)}${"]".repeat(depth)},`;
  const spoil = editReplies((text, { pathname, searchParams }) =>
    isBroken && pathname === "/api/v1/user/" && !searchParams.has("offset")
      ? text.replace(/"objects": ?\[\{/, `"objects":[${deep}`)
      : null,
  );
  await using quick = await startQuickWorld({ rates: QUIET }, spoil);
  const night = () => quick.sync({ kind: "full", resources: ["user"] });
  expect((await night()).summary.resources.user).toMatchObject({ walk: "whole", quarantined: 1 });
  const unresolved = async () => await quick.sql`select from sync.quarantine where resolved_at is null`;
  expect((await unresolved()).length).toBeGreaterThan(0);
  isBroken = false;
  quick.world.advance(1000);
  expect((await night()).summary.status).toBe("succeeded");
  expect(await unresolved()).toEqual([]);
});

test("a detail that cannot be stored makes its run partial, and the run says so", {
  tags: ["long"],
}, async () => {
  let isBroken = false;
  await using quick = await startQuickWorld(
    { users: 3, projects: 4, versions: 6, files: 3, builds: 150, rates: QUIET, stuckShare: 0 },
    editReplies((text, { pathname }) =>
      isBroken && /\/build\/\d+\/$/.test(pathname) ? text.replace("{", '{"length": NaN, ') : null,
    ),
  );
  await quick.sync({ kind: "full" });
  quick.world.advance(60_000);
  quick.world.triggerBuilds(30);
  await quick.watch();
  quick.world.advance(600_000);
  isBroken = true;
  const { summary } = await quick.watch();
  const rows =
    await quick.sql`select reason, payload, request from sync.quarantine where resolved_at is null`;
  expect(rows.length).toBeGreaterThan(5);
  for (const { reason, payload, request } of rows) {
    expect(reason).toBe("the record holds NaN, a number that JSON does not have");
    expect(payload).toMatch(/^\{"length":NaN,"/);
    expect(request).toMatch(/^\/api\/v1\/build\/\d+\/$/);
  }
  expect(summary).toMatchObject({
    status: "partial",
    warnings: [
      `${rows.length} records that were asked for one by one could not be stored; see \`docmirror quarantine\``,
    ],
  });
});
