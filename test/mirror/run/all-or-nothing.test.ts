/** What a run stores together is stored together or not at all, whatever breaks it off. `interrupted-run.test.ts` has longer cases. */
import { expect, test } from "vitest";
import { LockedError } from "../../../src/base/errors.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import { startRun } from "../../../src/store/ledger/run-ledger.ts";
import { otherProcess } from "../../support/leases.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

const BUILDS = "/api/v1/build/";
const WORLD = { users: 10, projects: 10, versions: 20, files: 10, builds: 300 };

/** The builds that are stored, and those of the pages that the walk counts. */
async function countBuilds({ sql }: QuickWorld) {
  const [row] = await sql`
    select pages, (checkpoint ->> 'seq')::int as checkpoint, case pages when 0 then 0 else 20 + (pages - 1) * 18 end as counted,
      (select count(*)::int from mirror.builds) as stored, (select count(*)::int from mirror.build_transitions) as transitions,
      (select count(*)::int from mirror.build_logs) as logs
    from sync.walks where resource = 'build'`;
  if (row === undefined) throw new Error("no walk of builds began");
  return row;
}

const REFUSED =
  "a batch that a full disk refuses to %s ends the run with exit code 4 at once, and nothing of it is left";
test.each([["store", "trigger", ""]])(REFUSED, endsAtOnce);
test.each([["commit", "constraint trigger", "deferrable initially deferred for each row"]])(
  REFUSED,
  { tags: ["long"] },
  endsAtOnce,
);

async function endsAtOnce(_what: string, trigger: string, when: string): Promise<void> {
  await using quick = await startQuickWorld(WORLD);
  await quick.sql.unsafe(`
     create function mirror.full_disk() returns trigger language plpgsql as $$ begin
       if (select count(*) from mirror.builds) > 100 then raise exception 'no space left on device' using errcode = '53100'; end if;
       return null;
     end $$;
     create ${trigger} full_disk after insert on mirror.build_transitions ${when} execute function mirror.full_disk()`);
  const result = await quick.sync();
  expect(result.error).toMatchObject({ sqlstate: "53100", hint: expect.stringContaining("free space") });
  expect(exitCodeOfRun(result)).toBe(4);
  const { pages, checkpoint, counted, stored, transitions, logs } = await countBuilds(quick);
  expect([checkpoint ?? 0, counted, counted, counted]).toEqual([pages, stored, transitions, logs]);
  await quick.sql.unsafe(
    "drop trigger full_disk on mirror.build_transitions; drop function mirror.full_disk",
  );
  expect((await quick.sync()).summary.status).toBe("succeeded");
  expect(await quick.sql`select count(*)::int as n from mirror.builds`).toEqual([{ n: 300 }]);
}

test("a run whose lease went to another run writes nothing more and ends with exit code 10", async () => {
  let builds = 0;
  let taking: Promise<void> | undefined;
  await using quick = await startQuickWorld(WORLD, async (request, next) => {
    if (new URL(request.url).pathname === BUILDS) builds += 1;
    if (builds >= 6) {
      taking ??= takeOver();
      await taking;
    }
    return next();
  });
  await using other = otherProcess(quick.databaseUrl);
  async function takeOver() {
    await quick.sql`update sync.leases set until = clock_timestamp(), instance = 'frozen'`;
    await startRun(quick.sql, "full", "2024-05-15T01:00:00Z", await other.takeRun());
  }
  const result = await quick.sync();
  expect(result.error).toBeInstanceOf(LockedError);
  expect(exitCodeOfRun(result)).toBe(10);
  expect(await quick.sql`select status from sync.runs order by id`).toEqual([
    { status: "interrupted" },
    { status: "running" },
  ]);
  const { counted, stored } = await countBuilds(quick);
  expect(stored).toBe(counted);
  expect(stored).toBeLessThan(WORLD.builds);
});
