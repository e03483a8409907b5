import { expect, it } from "vitest";
import { runCli } from "./support/cli.ts";
import { startScriptedServer } from "./support/scripted-server.ts";

it.each([
  "pretty",
  "json",
])("the log (%s) has nothing of foreign text that a terminal would obey", async (format) => {
  await using server = await startScriptedServer([{ status: 500, body: "turned \u202eround" }]);
  const { stderr } = await runCli([
    "get",
    "--base-url",
    server.url.href,
    "--rate",
    "0",
    "--retries",
    "1",
    "--log-format",
    format,
  ]);
  expect(stderr).toContain("request failed, trying again");
  expect(stderr).toContain("turned \\u202eround");
  expect(stderr).not.toContain("\u202e");
});
