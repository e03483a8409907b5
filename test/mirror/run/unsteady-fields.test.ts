/** A field that differs from reply to reply, as a signed link or a counter, and two releases of a service that answer in turn. */
import { expect, test } from "vitest";
import { QUIET } from "../../../src/simulate/settings.ts";
import { findUnsteady } from "../../../src/store/ledger/unsteady-fields.ts";
import { editReplies, startQuickWorld } from "../../support/quick-world.ts";

const FEW = { users: 4, projects: 12, versions: 4, files: 4, builds: 30, rates: QUIET, hiddenShare: 0 };
const clock = { now: () => new Date(), sleep: async () => {} };
const DAY_MS = 86_400_000;

/** Changes each record of the projects by the number of the reply. */
const startUnsteady = (edit: (record: Record<string, unknown>, reply: number) => void) => {
  let replies = 0;
  return startQuickWorld(
    FEW,
    editReplies((text, { pathname }) => {
      if (!/^\/api\/v1\/project\/(\d+\/)?$/.test(pathname)) return null;
      replies += 1;
      const reply = JSON.parse(text);
      for (const record of reply.objects ?? [reply]) edit(record, replies);
      return JSON.stringify(reply);
    }),
  );
};

test("a signed link is named once, and makes no change where a setting leaves it out", {
  tags: ["long"],
}, async () => {
  await using quick = await startUnsteady((record, reply) => {
    record.logo_url = `https://example.org/${record.id}?signature=${reply}`;
    record.copyright = `seen ${reply} times`;
  });
  const night = (ignoredFields: string[] | null) => {
    quick.world.advance(DAY_MS);
    const at = quick.world.now();
    return quick.sync({ kind: "full", clock: { ...clock, now: () => at }, settings: { ignoredFields } });
  };
  const changes = async () =>
    (await quick.sql`select count(*) as changes from mirror.changes where resource = 'project'`)[0]?.changes;
  const named = (field: string) => expect.stringContaining(`DOCMIRROR_IGNORED_FIELDS=project.${field}`);
  await night(null);
  const { summary } = await night(null);
  expect(summary.resources.project).toMatchObject({ updated: FEW.projects });
  expect(summary.warnings?.toSorted()).toEqual([named("copyright"), named("logo_url")]);
  expect(await findUnsteady(quick.sql)).toEqual([
    { resource: "project", field: "copyright" },
    { resource: "project", field: "logo_url" },
  ]);
  const again = await night(null);
  expect(again.summary.warnings).toBeUndefined();
  expect(again.summary.resources.project?.updated).toBe(FEW.projects);

  const ignoredFields = ["project.logo_url", "project.copyright"];
  await night(ignoredFields);
  const before = await changes();
  expect((await night(ignoredFields)).summary.resources.project).toMatchObject({ updated: 0 });
  expect(await changes()).toBe(before);
  // A change of another field is one, without those in its history.
  await quick.sql`update mirror.projects set name = 'old', record_hash = '' where id = '1'`;
  await quick.sql`delete from sync.pages`;
  await night(ignoredFields);
  const [change] =
    await quick.sql`select after from mirror.changes where resource = 'project' order by id desc limit 1`;
  expect(Object.keys(change?.after ?? {})).toEqual(["name"]);
});

test("a field that one of two releases has is named", { tags: ["long"] }, async () => {
  await using quick = await startUnsteady((record, reply) => {
    if (reply % 2 === 0) record.ranking = 1;
  });
  for (let at = 0; at < 4 && (await findUnsteady(quick.sql)).length === 0; at++) {
    quick.world.advance(DAY_MS);
    const now = quick.world.now();
    await quick.sync({ kind: "full", clock: { ...clock, now: () => now } });
  }
  expect(await findUnsteady(quick.sql)).toEqual([{ resource: "project", field: "ranking" }]);
});
