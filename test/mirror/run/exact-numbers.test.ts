import { expect, test } from "vitest";
import { readRecords } from "../../../src/serve/catalog/mirror-catalog.ts";
import { renderJson } from "../../../src/serve/protocol/replies.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { editReplies, startQuickWorld } from "../../support/quick-world.ts";

test("numbers that JavaScript would change are stored, compared and served as they were sent", async () => {
  let members = `"github_run":12345678901234567890,"node":{"deep":[9007199254740993,-0.12345678901234567891]}`;
  await using quick = await startQuickWorld(
    { users: 3, projects: 3, versions: 4, files: 3, builds: 30, rates: QUIET, stuckShare: 0 },
    editReplies((text) => text.replaceAll(`"resource_uri":"/api/v1/build/`, `${members},$&`)),
  );
  const night = () => quick.sync({ kind: "full" });
  const served = async () => {
    const [row] = await quick.sql<{ id: string }[]>`select id from mirror.builds order by id limit 1`;
    const [record] = await readRecords(quick.sql, "build", [row?.id ?? ""]);
    return renderJson(record, false).toString();
  };

  const resources = { build: { quarantined: 0 } };
  expect((await night()).summary).toMatchObject({ status: "succeeded", resources });
  expect(await served()).toContain(`"github_run":12345678901234567890`);
  expect(await served()).toContain(`"node":{"deep":[9007199254740993,-0.12345678901234567891]}`);

  members = members.replace("67890,", "67891,");
  quick.world.advance(86_400_000);
  expect((await night()).summary.resources.build).toMatchObject({ inserted: 0, updated: 30 });
  expect(await served()).toContain(`"github_run":12345678901234567891`);
  const [change] = await quick.sql`
    select before #>> '{extra,values,github_run}' as before, after #>> '{extra,values,github_run}' as after
    from mirror.changes where resource = 'build' limit 1`;
  expect(change).toEqual({ before: "12345678901234567890", after: "12345678901234567891" });

  members = `"size":1e400`;
  quick.world.advance(86_400_000);
  await night();
  expect(await served()).toContain(`"size":1${"0".repeat(400)},`);
});
