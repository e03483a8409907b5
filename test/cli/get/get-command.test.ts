import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hasTerminals, linesOf, runCli } from "../../support/cli.ts";
import { startReplay } from "../../support/replay-upstream.ts";
import { type Script, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild, wireProject } from "../../support/wire-records.ts";

const ROOT = { project: { list_endpoint: "/api/v1/project/", schema: "/api/v1/project/schema/" } };

const DEEP = `{"id":"1","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

/** Runs `get` against a service that answers as scripted. Gives what it printed, and the paths that it asked for. */
async function get(script: Script, ...args: string[]) {
  await using server = await startScriptedServer(script);
  const result = await runCli(["get", ...args, "--base-url", server.url.href, "--rate", "0"]);
  return { ...result, paths: server.requests.map(({ path }) => path.replace(/[?&]format=json/, "")) };
}

const page = (...objects: unknown[]) => ({
  meta: { limit: 20, offset: 0, next: null, previous: null, total_count: objects.length },
  objects,
});

describe("get", () => {
  it.each([
    [404, "999999", []],
    [410, "pip", ["--json"]],
  ])("of a record that the service answers with %i says that there is none and exits 12", async (status, key, flags) => {
    const script: Script = (_, { pathname }) => (pathname === "/api/v1/" ? { body: ROOT } : { status });
    const { code, stdout, stderr, paths } = await get(script, "project", key, ...flags);
    expect({ code, stdout }).toEqual({ code: 12, stdout: "" });
    const hint = "`docmirror get project` lists what it has";
    expect(stderr).toBe(`docmirror: The service has no project ${key}\n  ${hint}\n`);
    expect(paths).toEqual([`/api/v1/project/${key}`, "/api/v1/"]);
  });

  it("does not say that a record is missing where the base URL leads to something else", async () => {
    const { code, stderr } = await get([{ status: 404, body: "<h1>Not here</h1>" }], "project", "pip");
    expect(code).toBe(6);
    expect(stderr).toContain("check DOCMIRROR_BASE_URL");
    expect(stderr).not.toContain("has no project");
  });

  it.each([
    ["indented as a rule", '{"id":"1","x":[2]}', '{\n  "id": "1",\n  "x": [\n    2\n  ]\n}\n'],
    ["in one line where it is nested 20,000 deep", DEEP, `${DEEP}\n`],
    ["with a number that JSON does not have as a text", '{"x":NaN}', '{\n  "x": "NaN"\n}\n'],
    ["with a number that is too large as a text", '{"y":1e400}', '{\n  "y": "Infinity"\n}\n'],
    ["with control characters escaped", '{"id":"\\u001b\\u202e"}', '{\n  "id": "\\u001b\\u202e"\n}\n'],
    ["even when it is no record", "[1]", "[\n  1\n]\n"],
  ])("--json prints what the service answers, %s", async (_, body, printed) => {
    const { code, stdout, stderr } = await get([{ body }], "build", "1", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout === printed).toBe(true);
  });

  it("shows hostile records in a table without a control character", async () => {
    const evil = { state: "\u001b[2J\u202eevil\nline", version: { a: [1] }, error: ["a", "b"] };
    const odd = { state: 3, id: {}, project: { slug: "pip" } };
    const { code, stdout } = await get([{ body: page(wireBuild("7", evil), odd, null, "text") }], "build");
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
    expect(stdout).toContain("␛[2J�evil␊line");
    expect(stdout).toContain('{"a":[1]}');
    expect(stdout.split("\n").at(-2)).toBe("4 of 4 builds");
  });

  it("shows hostile fields of a record without a control character, and unknown ones at the end", async () => {
    const evil = { description: "one\r\n\u001b[31mtwo", "\u001b[0m": { slug: 3 }, users: [] };
    const record = wireProject("7", evil);
    const { stdout } = await get([{ body: record }], "project", "7");
    expect(stdout).toMatch(/^id +7\n/);
    expect(stdout).toMatch(/\ndescription +one\n {20,}␛\[31mtwo\n/);
    expect(stdout).toMatch(/\n␛\[0m +\{"slug":3\}\n$/);
  });

  it("shows the first 20 lines of a long text, also without a newline at its end", async () => {
    const output = Array.from({ length: 3000 }, (_, index) => `line ${index}`).join("\n");
    const { stdout } = await get([{ body: wireBuild("7", { output }) }], "build", "7");
    expect(stdout).toMatch(/\n +line 19\n +… --json shows the rest\nerror/);
  });

  it.each([
    ["version", "pip", "/api/v1/version/pip"],
    ["build", "pip", "/api/v1/build/pip/"],
  ])("of a %s by a project's slug asks for a page of the list", async (resource, slug, path) => {
    const { paths } = await get([{ body: page() }], resource, slug, "--limit", "2", "--offset", "4");
    expect(paths).toEqual([`${path}?limit=2&offset=4`]);
  });
});

describe("get of the recorded service", () => {
  let replay: Awaited<ReturnType<typeof startReplay>>;
  beforeAll(async () => {
    replay = await startReplay();
  });
  afterAll(() => replay.close());
  const ask = (args: readonly string[], options = {}) =>
    runCli(["get", ...args, "--base-url", replay.url.href, "--rate", "0", "--retries", "0"], options);

  it.each([
    ["the root listing as a table", [], /^resource +list_endpoint +schema\n/],
    ["a list as a table", ["build"], /^ +id +date +state +success +type +project +version +error\n/],
    ["where the next page is", ["build"], /\n20 of 150 builds; the next page: --offset 20\n$/],
    ["a list of versions by a project's slug", ["version", "brook-lib"], /\n\n14 of 14 versions\n$/],
    ["a record, a line for each field", ["version", "5047"], /^id +5047\nresource_uri +\S+5047\/\n/],
    ["a schema as a table of fields", ["build", "--schema"], /\nversion +related +true +false +/],
    ["the filters of a list", ["build", "--schema"], /\n\nfilters: .*state/],
  ])("shows %s", async (_what, args, printed) => {
    const { code, stdout } = await ask(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(printed);
  });

  it.skipIf(!hasTerminals)(
    "leaves out the last columns on a narrow terminal",
    { tags: ["long"] },
    async () => {
      const lines = linesOf((await ask(["build"], { terminalColumns: 60 })).stdout);
      expect(lines[0]?.trim().split(/ +/)).toEqual(["id", "date", "state", "success", "type"]);
      expect(lines.every((line) => line.length <= 60)).toBe(true);
    },
  );
});
