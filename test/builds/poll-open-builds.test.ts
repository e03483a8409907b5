import { describe, expect, test } from "vitest";
import { pollOpenBuilds } from "../../src/builds/poll-open-builds.ts";
import { silentLog } from "../../src/log.ts";
import { createTestClient } from "../support/client.ts";
import { type Loading, setUpLoading } from "../support/loading.ts";
import { type Script, startScriptedServer } from "../support/scripted-server.ts";
import { wireBuild } from "../support/wire-records.ts";

async function poll(loading: Loading, script: Script, signal = new AbortController().signal) {
  await using server = await startScriptedServer(script);
  await using client = createTestClient(server.url, { retries: 0 });
  const { sql, loader } = loading;
  const count = await pollOpenBuilds({ sql, client, loader, log: silentLog, signal });
  return { count, asked: server.requests.map(({ path }) => path.split("/")[4]).sort() };
}

const states = ({ sql }: Loading) => sql`select id, state from mirror.builds order by id`;

describe("open builds", () => {
  test("are asked for one by one, finished and deleted ones never", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [
      wireBuild("1", { state: "triggered" }),
      wireBuild("2", { state: "building" }),
      wireBuild("3", { state: "finished" }),
      wireBuild("4", { state: "cloning" }),
      wireBuild("5", { state: null }),
      wireBuild("6", { state: "building" }),
    ]);
    await loading.sql`update mirror.builds set deleted_at = now() where id = '6'`;
    const result = await poll(loading, ({ path }) => ({
      body: wireBuild(path.split("/")[4] ?? "", { state: "finished" }),
    }));
    expect(result).toEqual({ count: 4, asked: ["1", "2", "4", "5"] });
    expect((await states(loading)).map(({ state }) => state)).toEqual([
      ...Array(5).fill("finished"),
      "building",
    ]);
    expect(
      await loading.sql`select build_id from mirror.build_transitions where seq = 2 order by 1`,
    ).toHaveLength(4);
    expect(await poll(loading, [])).toEqual({ count: 0, asked: [] });
  });

  test("that do not answer stay as they are, and the others go on", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [wireBuild("1"), wireBuild("2"), wireBuild("3")]);
    await poll(loading, ({ path }) => {
      const id = path.split("/")[4] ?? "";
      if (id === "1") return { status: 404, body: "" };
      return id === "2" ? { body: "<html>" } : { body: wireBuild(id, { state: "finished" }) };
    });
    expect(await states(loading)).toEqual([
      { id: "1", state: "triggered" },
      { id: "2", state: "triggered" },
      { id: "3", state: "finished" },
    ]);
  });

  test("are asked for newest first, 500 at most", async () => {
    await using loading = await setUpLoading();
    const builds = Array.from({ length: 510 }, (_, n) => {
      const id = String(n).padStart(3, "0");
      return wireBuild(id, { date: n === 0 ? null : `2024-05-15T11:00:00.${id}000` });
    });
    await loading.load("build", builds);
    const { count, asked } = await poll(loading, [{ status: 404, body: "" }]);
    expect(count).toBe(500);
    expect(asked[0]).toBe("010");
  });

  test("are left alone once upstream is lost", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      Array.from({ length: 120 }, (_, n) => wireBuild(String(n))),
    );
    const { count, asked } = await poll(loading, [{ instead: "hang up" }]);
    expect([count, asked.length]).toEqual([50, 50]);
  });

  test("are left alone when asked to stop", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [wireBuild("1")]);
    const reason = new Error("stop");
    await expect(poll(loading, [], AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
