import { spawnSync } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { prettyMessage } from "../../src/base/log.ts";
import { runCli } from "../support/cli.ts";
import { factNamesOf, findLogCalls, sentencesOf } from "../support/log-calls.ts";
import { startScriptedServer } from "../support/scripted-server.ts";

it.each(["pretty", "json"])("the log (%s) has nothing that a terminal would obey", async (format) => {
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

it.skipIf(!existsSync("/dev/full"))(
  "a log on a full disk ends no work, and takes no memory",
  { tags: ["long"] },
  () => {
    const rssAfter = (times: number) => {
      const args = ["--import", "tsx", "--input-type=module", "-e", logs(times)];
      const stdio = ["ignore" as const, "pipe" as const, openSync("/dev/full", "w")];
      const { status, stdout } = spawnSync(process.execPath, args, { stdio, encoding: "utf8" });
      expect(status).toBe(0);
      return Number(/^went on, (\d+)/.exec(stdout)?.[1]);
    };
    expect(rssAfter(50_000) - rssAfter(1)).toBeLessThan(50);
  },
);

describe("each call that writes to the log", () => {
  const calls = findLogCalls();

  it("is found", () => expect(calls.length).toBeGreaterThan(90));

  it("has a fixed sentence, so that a program can look for it", () => {
    const loose = calls.filter(({ message }) => sentencesOf(message) === null);
    expect(loose.map(({ place, message }) => `${place} ${message}`)).toEqual([]);
  });

  it("has facts with names like those of the run summary", () => {
    const names = calls.flatMap((call) => factNamesOf(call).map((name) => `${call.place} ${name}`));
    expect(names.filter((name) => !/ [a-z]+(?:_[a-z]+)*$/.test(name))).toEqual([]);
  });

  it("takes the run from the log that the run was given", () => {
    const inRuns = calls.filter(({ place }) => /^(?:api|builds|content|load|sync|walk)\//.test(place));
    expect(inRuns.filter((call) => factNamesOf(call).includes("run_id"))).toEqual([]);
  });
});

describe("a line of the log for people", () => {
  const BASE = { level: 30, time: "2026-03-01T00:00:00.000Z" };

  it.each([
    [{ msg: "stopping" }, "stopping"],
    [{ run_id: 7, msg: "run opened", kind: "full" }, "run 7: run opened kind=full"],
    [{ run_id: 7, resource: "build", msg: "walk is not whole" }, "run 7 build: walk is not whole"],
    [{ resource: "build", msg: "the mirror is too old" }, "build: the mirror is too old"],
  ])("has the run and the list in front: %j", (line, shown) => {
    expect(prettyMessage({ ...BASE, ...line })).toBe(shown);
  });

  it("has short facts behind the sentence, and each long one below, as it is", () => {
    const line = { msg: "up", port: 5432, connect_with: `PGPASSWORD="$(cat x)" psql`, lists: { build: 1 } };
    expect(prettyMessage({ ...BASE, ...line })).toBe(
      `up port=5432\n    connect_with: PGPASSWORD="$(cat x)" psql\n    lists: {"build":1}`,
    );
  });

  it("has no line that foreign text made", () => {
    const line = { msg: "request failed", error: "a\r\n[00:00:00] INFO: sync succeeded" };
    expect(prettyMessage({ ...BASE, ...line })).toBe(
      "request failed\n    error: a\\r\\n[00:00:00] INFO: sync succeeded",
    );
  });

  it("has the stack of an error, indented", () => {
    const err = { type: "Error", message: "m", stack: "Error: m\n    at f" };
    expect(prettyMessage({ ...BASE, msg: "a request failed", err })).toBe(
      "a request failed\n    err: Error: m\n          at f",
    );
  });
});
