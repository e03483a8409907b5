import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { factNamesOf, findLogCalls, sentencesOf } from "../support/log-calls.ts";
import { startScriptedServer } from "../support/scripted-server.ts";

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

describe("each call that writes to the log", () => {
  const calls = findLogCalls();

  it("is found", () => expect(calls.length).toBeGreaterThan(90));

  it("has a fixed sentence, so that a program can look for it", () => {
    const loose = calls.filter(({ message }) => sentencesOf(message) === null);
    expect(loose.map(({ place, message }) => `${place} ${message}`)).toEqual([]);
  });

  it("has facts with names like those of the run summary", () => {
    const odd = calls.flatMap((call) =>
      factNamesOf(call)
        .filter((name) => !/^[a-z]+(?:_[a-z]+)*$/.test(name))
        .map((name) => `${call.place} ${name}`),
    );
    expect(odd).toEqual([]);
  });

  it("takes the run from the log that the run was given", () => {
    const inRuns = calls.filter(({ place }) => /^(?:api|builds|content|load|sync|walk)\//.test(place));
    expect(inRuns.filter((call) => factNamesOf(call).includes("run_id")).map(({ place }) => place)).toEqual(
      [],
    );
  });
});
