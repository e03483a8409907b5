import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { type Script, startScriptedServer } from "../support/scripted-server.ts";

const ROOT = { project: { list_endpoint: "/api/v1/project/", schema: "/api/v1/project/schema/" } };

const DEEP = `{"id":"1","x":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;

/**
 * Runs `get` against a service that answers as scripted; gives what it printed, and the paths that it asked
 * for.
 */
async function get(script: Script, ...args: string[]) {
  await using server = await startScriptedServer(script);
  const result = await runCli(["get", ...args, "--base-url", server.url.href, "--rate", "0"], {});
  return { ...result, paths: server.requests.map(({ path }) => path.replace("?format=json", "")) };
}

describe("get", () => {
  it.each([
    [404, "999999"],
    [410, "pip"],
  ])("of a record that the service answers with %i says that there is none and exits 12", async (status, key) => {
    const { code, stdout, stderr, paths } = await get(
      (_, { pathname }) => (pathname === "/api/v1/" ? { body: ROOT } : { status }),
      "project",
      key,
    );
    expect({ code, stdout }).toEqual({ code: 12, stdout: "" });
    expect(stderr).toBe(
      `docmirror: The service has no project ${key}\n  \`docmirror get project\` lists what it has\n`,
    );
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
  ])("prints what the service answers, %s", async (_, body, printed) => {
    const { code, stdout, stderr } = await get([{ body }], "build", "1");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout === printed).toBe(true);
  });
});
