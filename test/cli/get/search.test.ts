import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.ts";
import { runSync, type SyncOptions } from "../../../src/mirror/run/run.ts";
import { withContent } from "../../../src/mirror/run/with-content.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase } from "../../support/database.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { startReplay } from "../../support/replay-upstream.ts";
import { type Script, startScriptedServer } from "../../support/scripted-server.ts";
import { withDefaults } from "../../support/sync.ts";

async function search(script: Script, ...args: string[]) {
  await using server = await startScriptedServer(script);
  const service = ["--base-url", server.url.href, "--rate", "0", "--retries", "0"];
  const result = await runCli(["get", ...args, ...service]);
  return { ...result, paths: server.requests.map(({ path }) => path) };
}

describe("get --search of the recorded service", () => {
  let replay: Awaited<ReturnType<typeof startReplay>>;
  beforeAll(async () => {
    replay = await startReplay();
  });
  afterAll(() => replay.close());
  const ask = (args: readonly string[], options = {}) =>
    runCli(["get", ...args, "--base-url", replay.url.href, "--rate", "0"], options);

  it("finds files, with the words marked", async () => {
    const { code, stdout } = await ask(["file", "--search", "kestrel"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^project +path\nlark-kit +py-modindex\.html\n {4}\/docs\/lark-kit\/en\/v1\.13\.8\/py-modindex\.html\n/,
    );
    expect(stdout).toContain("    Stone umber *kestrel* north tundra");
    expect(stdout).toMatch(/\n\n\d+ hits/);
  });

  it("finds documents of a version", async () => {
    const { stdout } = await ask(["project", "lark-kit", "--search", "kestrel", "--in-version", "v1.13.8"]);
    expect(stdout).toBe(`\
title             path
py-modindex.html  py-modindex
    http://lark-kit.docs.example.org/en/v1.13.8/py-modindex
    Stone umber *kestrel* north tundra pine amber cobalt drift vale opal marble coppe

1 hit
`);
  });
});

describe("get --search", () => {
  it("asks for all words, and for the page of files that was asked for", async () => {
    const asked = ["file", "--search", "build error", "--page", "2"];
    const { paths } = await search([{ body: { objects: [] } }], ...asked);
    expect(paths).toEqual(["/api/v1/file/search/?q=build+error&page=2&format=json"]);
  });

  it("says that the service has no such project and exits 12", async () => {
    const root = { project: { list_endpoint: "/api/v1/project/", schema: "/s/" } };
    const script: Script = (_, { pathname }) => (pathname === "/api/v1/" ? { body: root } : { status: 404 });
    const { code, stderr } = await search(script, "project", "nosuch", "--search", "x");
    expect(code).toBe(12);
    expect(stderr).toMatch(/^docmirror: The service has no project nosuch, .*\n {2}`docmirror get` shows/);
  });

  it("exits 6 for a reply without hits, and --json prints it", async () => {
    const script = [{ body: { results: [] } }];
    const asked = ["file", "--search", "x", "--anchors"];
    expect(await search(script, ...asked)).toMatchObject({ code: 6, stdout: "" });
    const stdout = '{\n  "results": []\n}\n';
    expect(await search(script, ...asked, "--json")).toMatchObject({ code: 0, stdout });
  });

  it.each([
    ["project --search x", "--search is for file, or for one project"],
    ["build pip --search x", "--search is for file, or for one project"],
    ["file 7 --search x", "--search is for file, or for one project"],
    ["--search x", "--search is for file, or for one project"],
    ["project a --search x --page 2", "--page is for files"],
    ["project a --search x --anchors", "--anchors is for file"],
    ["project a --search x --project a", "--project is for file"],
    ["file --search x --anchors --project a", "--project is not for anchors"],
    ["file --search x --anchors --page 2", "--page is for files"],
    ["file --search x --anchors --in-version a", "--in-version is for a search in one project"],
    ["file --search x --in-version a", "--in-version is for a search in one project"],
    ["file --search x --project a --json", "which --project cannot narrow"],
    ["file --search x --page 0", "--page 0: it is not a whole number"],
    ["file --search x --limit 2", "cannot be used with option '--limit"],
    ["file --local", "--local goes with --search"],
    ["file --in-version a", "--in-version goes with --search"],
    ["file --page 2", "--page goes with --search"],
    ["file --search=\u00a0", "the query is empty"],
  ])("%s exits 2 and asks for nothing", async (line, message) => {
    const { code, stderr, paths } = await search([], ...line.split(" "));
    expect({ code, paths }).toEqual({ code: 2, paths: [] });
    expect(stderr).toContain(message);
  });
});

describe("get --search --local", () => {
  let world: QuickWorld;
  beforeAll(async () => {
    world = await startQuickWorld({ hiddenShare: 0 });
    const options = { clock: systemClock, settings: { content: true } };
    await withContent(runSync)({ ...withDefaults<SyncOptions>(world.databaseUrl, world.baseUrl, options) });
  });
  afterAll(() => world?.[Symbol.asyncDispose]());

  const ask = (args: string[], url = world.databaseUrl) =>
    runCli(["get", ...args, "--local"], { env: { DATABASE_URL: url } });

  it("shows files, anchors and documents of the mirror, without a base URL", async () => {
    const files = await ask(["file", "--search", "index"]);
    expect(files).toMatchObject({ code: 0, stderr: "" });
    expect(files.stdout).toMatch(/^project +path\n/);
    expect(files.stdout).toMatch(/\n(?:20 of )?\d+ hits(?: on page 1)?\n$/);
    const anchors = await ask(["file", "--search", "index", "--anchors", "--json"]);
    expect(JSON.parse(anchors.stdout).objects[0]).toMatch(/^http:\/\/.*\/index\.html#index$/);
    const [hit] = JSON.parse((await ask(["file", "--search", "index", "--json"])).stdout).objects;
    const [, , , , version] = hit.absolute_url.split("/");
    const docs = await ask(["project", hit.project, "--search", "index", "--in-version", version]);
    expect(docs.code).toBe(0);
    expect(docs.stdout).toContain("index.html");
  });

  it("says what is wrong with a search", async () => {
    expect(await ask(["project", "nosuch", "--search", "index"])).toMatchObject({ code: 12 });
    expect(await ask(["file", "--search", "index", "--anchors", "--page", "2"])).toMatchObject({ code: 2 });
    await using empty = await createTestDatabase();
    expect((await ask(["file", "--search", "index"], empty.url)).stdout).toBe(
      "the index is empty; `docmirror sync --content` fills it\n",
    );
  });
});
