import { spawnSync } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { factNamesOf, findLogCalls, sentencesOf } from "../support/log-calls.ts";
import { startScriptedServer } from "../support/scripted-server.ts";

it.each([
  "pretty",
  "json",
])("the log (%s) has nothing of foreign text that a terminal would obey", async (format) => {
  await using server = await startScriptedServer([{ status: 500, body: "turned \u202eround" }]);
  const args = `get --base-url ${server.url.href} --rate 0 --retries 1 --log-format ${format}`;
  const { stderr } = await runCli(args.split(" "));
  expect(stderr).toContain("request failed, trying again");
  expect(stderr).toContain("turned \\u202eround");
  expect(stderr).not.toContain("\u202e");
});

/** Writes this often, and then says that it went on. */
const logs = (times: number) => `
  const { createLog } = await import(${JSON.stringify(new URL("../../src/base/log.ts", import.meta.url))});
  const log = await createLog({ level: "info", format: "json", colour: false, clean: (text) => text });
  for (let count = 0; count < ${times}; count++) log.info({ text: "x".repeat(1000) }, "a line");
  console.log("went on, " + Math.round(process.memoryUsage.rss() / 1e6));`;

it.skipIf(!existsSync("/dev/full"))("a log on a full disk ends no work, and takes no memory", () => {
  const rssAfter = (times: number) => {
    const args = ["--import", "tsx", "--input-type=module", "-e", logs(times)];
    const { status, stdout } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "pipe", openSync("/dev/full", "w")],
      encoding: "utf8",
    });
    expect(status).toBe(0);
    return Number(/^went on, (\d+)/.exec(stdout)?.[1]);
  };
  expect(rssAfter(50_000) - rssAfter(1)).toBeLessThan(50);
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
    expect(inRuns.filter((call) => factNamesOf(call).includes("run_id"))).toEqual([]);
  });
});
