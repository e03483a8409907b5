import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTerminals, runCli } from "../../support/cli.ts";
import { startReplay } from "../../support/replay-upstream.ts";
import { type Script, startScriptedServer } from "../../support/scripted-server.ts";

/** Runs `search` against a service that answers as scripted. */
async function search(script: Script, ...args: string[]) {
  await using server = await startScriptedServer(script);
  const result = await runCli([
    "search",
    ...args,
    "--base-url",
    server.url.href,
    "--rate",
    "0",
    "--retries",
    "0",
  ]);
  return { ...result, paths: server.requests.map(({ path }) => path) };
}

describe("search of the recorded service", () => {
  let replay: Awaited<ReturnType<typeof startReplay>>;
  beforeAll(async () => {
    replay = await startReplay();
  });
  afterAll(() => replay.close());
  const ask = (args: readonly string[], options = {}) =>
    runCli(["search", ...args, "--base-url", replay.url.href, "--rate", "0"], options);

  it("finds files, with the words marked", async () => {
    const { code, stdout } = await ask(["files", "kestrel"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^project +path\nlark-kit +py-modindex\.html\n {4}\/docs\/lark-kit\/en\/v1\.13\.8\/py-modindex\.html\n/,
    );
    expect(stdout).toContain("    Stone umber *kestrel* north tundra");
    expect(stdout).toMatch(/\n\n\d+ hits/);
  });

  it("finds anchors, as the service wrote their addresses", async () => {
    const { stdout } = await ask(["anchors", "py-modindex"]);
    expect(stdout).toMatch(/^http\/\/heron-client\.docs\.example\.org\/.*#py-modindex\n/);
    expect(stdout).toMatch(/\n\n18 hits\n$/);
  });

  it("finds documents of a version", async () => {
    const { stdout } = await ask(["docs", "kestrel", "--project", "lark-kit", "--in-version", "v1.13.8"]);
    expect(stdout).toBe(
      "title             path\n" +
        "py-modindex.html  py-modindex\n" +
        "    http://lark-kit.docs.example.org/en/v1.13.8/py-modindex\n" +
        "    Stone umber *kestrel* north tundra pine amber cobalt drift vale opal marble coppe\n" +
        "\n1 hit\n",
    );
  });

  it("--json prints the reply as it came", async () => {
    const { stdout } = await ask(["files", "kestrel", "--json"]);
    expect(JSON.parse(stdout).objects[0].text).toContain('<span class="highlighted">kestrel</span>');
  });

  it.skipIf(!hasTerminals).each([
    ["bold and underlined on a terminal", {}, "\u001b[1m\u001b[4mkestrel\u001b[24m\u001b[22m"],
    ["between asterisks where NO_COLOR is set", { NO_COLOR: "1" }, "*kestrel*"],
  ])("shows the words %s", async (_, env, shown) => {
    const options = { terminalColumns: 70, env: { TERM: "xterm", ...env } };
    expect((await ask(["files", "kestrel"], options)).stdout).toContain(shown);
  });
});

describe("search", () => {
  it("asks for all words, and for the page of files that was asked for", async () => {
    const { paths } = await search([{ body: { objects: [] } }], "files", "build", "error", "--page", "2");
    expect(paths).toEqual(["/api/v1/file/search/?q=build+error&page=2&format=json"]);
  });

  it("asks for documents of the version latest", async () => {
    const body = { results: { hits: { hits: [], total: 0, max_score: null } } };
    const { stdout, paths } = await search([{ body }], "docs", "x&y", "--project", "pip");
    expect(paths).toEqual(["/api/v2/docsearch/?project=pip&version=latest&q=x%26y&format=json"]);
    expect(stdout).toBe("no hits\n");
  });

  it("says that the service has no such project and exits 12", async () => {
    const root = { project: { list_endpoint: "/api/v1/project/", schema: "/s/" } };
    const script: Script = (_, { pathname }) => (pathname === "/api/v1/" ? { body: root } : { status: 404 });
    const { code, stderr } = await search(script, "docs", "x", "--project", "nosuch");
    expect(code).toBe(12);
    expect(stderr).toBe(
      "docmirror: The service has no project nosuch, or no doc search\n  `docmirror get` shows what it has\n",
    );
  });

  it("exits 6 for a reply without hits, and --json prints it", async () => {
    const script = [{ body: { results: [] } }];
    expect(await search(script, "anchors", "x")).toMatchObject({ code: 6, stdout: "" });
    expect(await search(script, "anchors", "x", "--json")).toMatchObject({
      code: 0,
      stdout: '{\n  "results": []\n}\n',
    });
  });

  it.each([
    [["docs", "x"], "the doc search wants a project"],
    [["docs", "x", "--project", "a", "--page", "2"], "--page is for files"],
    [["anchors", "x", "--project", "a"], "--project is not for anchors"],
    [["anchors", "x", "--in-version", "a"], "--in-version is for docs"],
    [["files", "x", "--in-version", "a"], "--in-version is for docs"],
    [["files", "x", "--project", "a", "--json"], "which --project cannot narrow"],
    [["files", "x", "--page", "0"], "--page 0: it is not a whole number"],
    [["files", " "], "the query is empty"],
    [["fils", "x"], "Unknown search 'fils'; did you mean files?"],
  ])("%j exits 2 and asks for nothing", async (args, message) => {
    const { code, stderr, paths } = await search([], ...args);
    expect({ code, paths }).toEqual({ code: 2, paths: [] });
    expect(stderr).toContain(message);
  });
});
