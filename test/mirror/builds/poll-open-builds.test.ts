import { describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { pollOpenBuilds } from "../../../src/mirror/builds/poll-open-builds.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { type Script, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild } from "../../support/wire-records.ts";

const NOW = "2024-05-15T13:00:00Z";
const SEEN = "2024-05-15T12:59:00Z";

interface Polling {
  script: Script;
  maxDetails?: number;
  until?: Date;
  signal?: AbortSignal;
  replicaLagMs?: number;
}

async function poll(
  loading: Loading,
  { script, maxDetails = 500, until, signal, replicaLagMs = 0 }: Polling,
) {
  const clock = createFakeClock({ startAt: NOW });
  await using server = await startScriptedServer(script);
  await using client = createTestClient(server.url, { retries: 5, clock });
  const { sql, loader } = loading;
  const run = {
    sql,
    client,
    loader,
    log: silentLog,
    clock,
    patience: withStoreErrors,
    signal: signal ?? new AbortController().signal,
    startedAt: new Date(NOW),
    runId: 2,
  };
  const polled = await pollOpenBuilds(run, {
    replicaLagMs,
    stuckAfterMs: 7_200_000,
    maxDetails,
    maxStuck: 4,
    ...(until && { until }),
  });
  return { ...polled, requested: server.requests.map(({ path }) => path.split("/")[4] ?? "").sort() };
}

const fresh = (id: string, over: Record<string, unknown> = {}) =>
  wireBuild(id, { date: "2024-05-15T12:55:00", ...over });
const states = ({ sql }: Loading) => sql`select id, state from mirror.builds order by id`;

describe("open builds", () => {
  test("are asked for one by one, finished and deleted ones and those without a state never", async () => {
    await using loading = await setUpLoading();
    const builds = [
      fresh("1", { state: "triggered" }),
      fresh("2", { state: "building" }),
      fresh("3", { state: "finished" }),
      fresh("4", { state: "cloning" }),
      fresh("5", { state: null }),
    ];
    await loading.load("build", builds, { at: SEEN });
    const script: Script = ({ path }) => ({ body: fresh(path.split("/")[4] ?? "", { state: "finished" }) });
    expect(await poll(loading, { script })).toEqual({
      asked: 3,
      gone: 0,
      waiting: 0,
      unsettled: 0,
      requested: ["1", "2", "4"],
    });
    expect((await states(loading)).map(({ state }) => state)).toEqual([...Array(4).fill("finished"), null]);
    expect(
      await loading.sql`select build_id from mirror.build_transitions where seq = 2 order by 1`,
    ).toHaveLength(3);
    expect(await poll(loading, { script })).toMatchObject({ asked: 0, requested: [] });
  });

  test("vanish when they answer 404 or 410, and stay as they are when they do not answer well", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      ["1", "2", "3", "4", "5"].map((id) => fresh(id)),
      { at: SEEN },
    );
    const { asked, gone } = await poll(loading, {
      script: ({ path }) => {
        const id = path.split("/")[4] ?? "";
        if (id === "1") return { status: 404, body: "" };
        if (id === "2") return { status: 410, body: "" };
        if (id === "3") return { body: "<html>" };
        return { body: fresh(id === "4" ? "400" : id, { state: "finished" }) };
      },
    });
    expect([asked, gone]).toEqual([5, 2]);
    expect((await states(loading)).map(({ state }) => state)).toEqual([
      ...Array(4).fill("triggered"),
      "finished",
    ]);
    expect(
      await loading.sql`select build_id, vanished_at is not null as gone, asked_at is not null as unclear
        from sync.open_builds order by 1`,
    ).toEqual([
      { build_id: "1", gone: true, unclear: false },
      { build_id: "2", gone: true, unclear: false },
      { build_id: "3", gone: false, unclear: true },
      { build_id: "4", gone: false, unclear: true },
    ]);
  });

  test("do not vanish within the lag of a replica, counted from their last sighting", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [fresh("1")], { at: "2024-05-15T12:50:00Z" });
    await loading.load("build", [fresh("2")], { at: SEEN });
    const script = [{ status: 404, body: "" }];
    expect(await poll(loading, { script, replicaLagMs: 600_000 })).toMatchObject({
      asked: 2,
      gone: 2,
      waiting: 1,
    });
    expect(await loading.sql`select build_id from sync.open_builds where vanished_at is not null`).toEqual([
      { build_id: "1" },
    ]);
  });

  test("that cannot be stored are put off too, so that they take no other's turn", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      ["1", "2"].map((id) => wireBuild(id, { date: "2024-05-15T11:30:00" })),
      { at: "2024-05-15T12:00:00Z" },
    );
    await loading.sql`alter table mirror.builds add check (state <> 'refused')`;
    const script: Script = ({ path }) => ({ body: fresh(path.split("/")[4] ?? "", { state: "refused" }) });
    expect(await poll(loading, { script, maxDetails: 1 })).toMatchObject({ requested: ["1"] });
    expect(await poll(loading, { script, maxDetails: 1 })).toMatchObject({ requested: ["2"] });
    expect(await poll(loading, { script, maxDetails: 1 })).toMatchObject({ requested: [] });
  });

  test("that fail are asked for once more, not as often as a page", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [fresh("1")], { at: SEEN });
    expect(await poll(loading, { script: () => ({ status: 500, body: "" }) })).toMatchObject({
      asked: 1,
      requested: ["1", "1"],
    });
  });

  test("are asked for no more often in a run than it has room for", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      Array.from({ length: 60 }, (_, id) => fresh(String(id))),
      { at: SEEN },
    );
    const { asked, requested } = await poll(loading, { script: [{ status: 404, body: "" }], maxDetails: 30 });
    expect([asked, requested.length]).toEqual([30, 30]);
  });

  test("are left for the next round when the time of this one is over, but for the first of them", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      Array.from({ length: 60 }, (_, id) => fresh(String(id))),
      { at: SEEN },
    );
    const script = [{ status: 404, body: "" }];
    expect(await poll(loading, { script, until: new Date(NOW) })).toMatchObject({ asked: 25, unsettled: 0 });
  });

  test("are left alone once the host is lost, and counted", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      Array.from({ length: 60 }, (_, n) => fresh(String(n))),
      { at: SEEN },
    );
    const script: Script = [{ body: fresh("0") }, { instead: "hang up" }];
    const { asked, unsettled } = await poll(loading, { script });
    expect([asked, unsettled]).toEqual([25, 59]);
  });

  test("of which one always answers 502 are all polled", async () => {
    await using loading = await setUpLoading();
    await loading.load(
      "build",
      Array.from({ length: 60 }, (_, n) => fresh(String(n))),
      { at: SEEN },
    );
    const script: Script = (_, { pathname }) => {
      const id = pathname.split("/")[4] ?? "";
      return id === "1" ? { status: 502, body: "" } : { body: fresh(id, { state: "finished" }) };
    };
    expect(await poll(loading, { script })).toMatchObject({ asked: 60, unsettled: 1 });
  });

  test("do not vanish by a 404 that a cache got before the list showed them", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [fresh("1")], { at: SEEN });
    loading.nextRun();
    const cached = { status: 404, body: "", headers: { age: "3600" } };
    expect(await poll(loading, { script: [cached] })).toMatchObject({ asked: 1, gone: 1 });
    expect(await loading.sql`select vanished_at from sync.open_builds`).toEqual([{ vanished_at: null }]);
    expect(await loading.sql`select to_state from mirror.build_transitions`).toHaveLength(1);
  });

  test("are left alone when asked to stop", async () => {
    await using loading = await setUpLoading();
    await loading.load("build", [fresh("1")], { at: SEEN });
    const reason = new Error("stop");
    const polling = poll(loading, { script: [], signal: AbortSignal.abort(reason) });
    await expect(polling).rejects.toBe(reason);
  });
});
