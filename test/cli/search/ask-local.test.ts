import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { runSync, type SyncOptions } from "../../../src/mirror/run/run.ts";
import { withContent } from "../../../src/mirror/run/with-content.ts";
import { type CliResult, runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { withDefaults } from "../../support/sync.ts";

let world: QuickWorld;
beforeAll(async () => {
  world = await startQuickWorld({ hiddenShare: 0 });
  const options = { clock: systemClock, settings: { content: true } };
  await withContent(runSync)({ ...withDefaults<SyncOptions>(world.databaseUrl, world.baseUrl, options) });
});
afterAll(() => world?.[Symbol.asyncDispose]());

const search = (args: string[], url = world.databaseUrl): Promise<CliResult> =>
  runCli(["search", ...args, "--local"], { env: { DATABASE_URL: url } });

describe("search --local", () => {
  it("shows files, anchors and documents of the mirror, without a base URL", async () => {
    const files = await search(["files", "index"]);
    expect(files).toMatchObject({ code: 0, stderr: "" });
    expect(files.stdout).toMatch(/^project +path\n/);
    expect(files.stdout).toMatch(/\n(?:20 of )?\d+ hits(?: on page 1)?\n$/);
    const anchors = await search(["anchors", "index", "--json"]);
    expect(JSON.parse(anchors.stdout).objects[0]).toMatch(/^http:\/\/.*\/index\.html#index$/);
    const [hit] = JSON.parse((await search(["files", "index", "--json"])).stdout).objects;
    const [, , , , version] = hit.absolute_url.split("/");
    const docs = await search(["docs", "index", "--project", hit.project, "--in-version", version]);
    expect(docs.code).toBe(0);
    expect(docs.stdout).toContain("index.html");
  });

  it("says what is wrong with a search", async () => {
    expect(await search(["docs", "index"])).toMatchObject({ code: 2 });
    expect(await search(["docs", "index", "--project", "nosuch"])).toMatchObject({ code: 12 });
    expect(await search(["anchors", "index", "--page", "2"])).toMatchObject({ code: 2 });
    await using empty = await createTestDatabase();
    expect((await search(["files", "index"], empty.url)).stdout).toBe(
      "the index is empty; `docmirror sync --content` fills it\n",
    );
  });
});
