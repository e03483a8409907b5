import { describe, expect, test } from "vitest";
import { followOpenBuilds } from "../../../src/mirror/builds/follow-open-builds.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { createKeptLog } from "../../support/quick-world.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild } from "../../support/wire-records.ts";

async function follow(
  { sql, loader }: Loading,
  script: Script,
  { now = NOW, retries = 5, signal = new AbortController().signal, ...over }: Following = {},
) {
  const clock = createFakeClock({ startAt: now });
  await using server = await startScriptedServer(script);
  await using client = createTestClient(server.url, { retries, clock });
  const { log, messages } = createKeptLog();
  const parts = { sql, client, loader, log, clock, patience: withStoreErrors, signal, runId: 2 };
  const bounds = { replicaLagMs: 0, stuckAfterMs: 7_200_000, pageSize: 100, maxDetails: 500, maxStuck: 4 };
  const polled = await followOpenBuilds({ ...parts, startedAt: new Date(now) }, { ...bounds, ...over });
  const paths = server.requests.map(({ path }) => path);
  return { polled, requested: paths.map(idOf).sort(), paths, messages: messages() };
}

interface Following extends Partial<Parameters<typeof followOpenBuilds>[1]> {
  now?: string;
  signal?: AbortSignal;
  retries?: number;
}

const NOW = "2024-05-15T13:00:00Z";
const SEEN = "2024-05-15T12:59:00Z";

const fresh = (id: string, over: Record<string, unknown> = {}) =>
  wireBuild(id, { date: "2024-05-15T12:55:00", ...over });
const numbered = (count: number) => Array.from({ length: count }, (_, n) => fresh(String(n)));
const idOf = (path: string) => path.split("/")[4] ?? "";
const GONE: ScriptedReply = { status: 404, body: "" };

async function setUp(builds: readonly unknown[], at = SEEN): Promise<Loading> {
  const loading = await setUpLoading();
  await loading.load("build", builds, { at });
  return loading;
}

const states = async ({ sql }: Loading) =>
  (await sql<{ state: string }[]>`select state from mirror.builds order by id`).map(({ state }) => state);

describe("open builds", () => {
  test("are asked for one by one, finished and deleted ones and those without a state never", async () => {
    const all = ["triggered", "building", "finished", "cloning", null];
    await using loading = await setUp(all.map((state, n) => fresh(String(n + 1), { state })));
    const script: Script = ({ path }) => ({ body: fresh(idOf(path), { state: "finished" }) });
    const expected = { polled: { asked: 3, gone: 0, waiting: 0, unsettled: 0 }, requested: ["1", "2", "4"] };
    expect(await follow(loading, script)).toMatchObject(expected);
    expect(await states(loading)).toEqual([...Array(4).fill("finished"), null]);
    expect(await loading.sql`select build_id from mirror.build_transitions where seq = 2`).toHaveLength(3);
    expect(await follow(loading, script)).toMatchObject({ polled: { asked: 0 }, requested: [] });
  });

  test("vanish when they answer 404 or 410, and stay as they are when they do not answer well", async () => {
    await using loading = await setUp(["1", "2", "3", "4", "5"].map((id) => fresh(id)));
    const answers: Record<string, ScriptedReply> = {
      1: GONE,
      2: { status: 410, body: "" },
      3: { body: "<html>" },
      4: { body: fresh("400", { state: "finished" }) },
      5: { body: fresh("5", { state: "finished" }) },
    };
    const { polled } = await follow(loading, ({ path }) => answers[idOf(path)] ?? {});
    expect(polled).toMatchObject({ asked: 5, gone: 2 });
    expect(await states(loading)).toEqual([...Array(4).fill("triggered"), "finished"]);
    const open = await loading.sql`
      select vanished_at is not null as gone, asked_at is not null as unclear from sync.open_builds order by build_id`;
    const [gone, unclear] = [true, false].map((isGone) => ({ gone: isGone, unclear: !isGone }));
    expect(open).toEqual([gone, gone, unclear, unclear]);
  });

  test("do not vanish within the lag of a replica, counted from their last sighting", async () => {
    await using loading = await setUp([fresh("1")], "2024-05-15T12:50:00Z");
    await loading.load("build", [fresh("2")], { at: SEEN });
    const { polled } = await follow(loading, [GONE], { replicaLagMs: 600_000 });
    expect(polled).toMatchObject({ asked: 2, gone: 2, waiting: 1 });
    const vanished = await loading.sql`select build_id from sync.open_builds where vanished_at is not null`;
    expect(vanished).toEqual([{ build_id: "1" }]);
  });

  test("that cannot be stored are put off too, so that they take no other's turn", async () => {
    const builds = ["1", "2"].map((id) => wireBuild(id, { date: "2024-05-15T11:30:00" }));
    await using loading = await setUp(builds, "2024-05-15T12:00:00Z");
    await loading.sql`alter table mirror.builds add check (state <> 'refused')`;
    const script: Script = ({ path }) => ({ body: fresh(idOf(path), { state: "refused" }) });
    for (const requested of [["1"], ["2"], []])
      expect(await follow(loading, script, { maxDetails: 1 })).toMatchObject({ requested });
  });

  const failing: Script = (_, { pathname }) =>
    idOf(pathname) === "1"
      ? { status: 502, body: "" }
      : { body: fresh(idOf(pathname), { state: "finished" }) };
  const fading: Script = [{ body: fresh("0") }, { instead: "hang up" }];
  const until = new Date(NOW);
  test.each<[string, Script, Following, object]>([
    ["are asked for no more often in a run than it has room for", [GONE], { maxDetails: 30 }, { asked: 30 }],
    ["are left, but the first, when the time is over", [GONE], { until }, { asked: 25, unsettled: 0 }],
    ["are left alone once the host is lost, and counted", fading, {}, { asked: 25, unsettled: 59 }],
    ["of which one always answers 502 are all polled", failing, {}, { asked: 60, unsettled: 1 }],
  ])("%s", async (_, script, options, expected) => {
    await using loading = await setUp(numbered(60));
    expect((await follow(loading, script, options)).polled).toMatchObject(expected);
  });

  test("that fail are asked for once more, not as often as a page", async () => {
    await using loading = await setUp([fresh("1")]);
    const { requested } = await follow(loading, () => ({ status: 500, body: "" }));
    expect(requested).toEqual(["1", "1"]);
  });

  test("do not vanish by a 404 that a cache got before the list showed them", async () => {
    await using loading = await setUp([fresh("1")]);
    loading.nextRun();
    const { polled } = await follow(loading, [{ ...GONE, headers: { age: "3600" } }]);
    expect(polled).toMatchObject({ asked: 1, gone: 1 });
    expect(await loading.sql`select vanished_at from sync.open_builds`).toEqual([{ vanished_at: null }]);
    expect(await loading.sql`select to_state from mirror.build_transitions`).toHaveLength(1);
  });

  test("are left alone when asked to stop", async () => {
    await using loading = await setUp([fresh("1")]);
    const reason = new Error("stop");
    await expect(follow(loading, [], { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

const MADE = "2024-05-14T12:00:00";
const HUNG_SEEN = "2024-05-14T15:00:00Z";

/** So many builds that hung when they were seen last, a day ago. `filtering`: what the service's schema says. */
async function startHanging({ builds = 210, filtering = { state: 1 } as object } = {}): Promise<Loading> {
  const loading = await setUp(hanging(1, builds), HUNG_SEEN);
  await loading.sql`
    insert into sync.upstream_schemas (resource, body_hash, body, first_seen_at, run_id)
    values ('build', '', ${JSON.stringify({ filtering })}::text::jsonb, ${HUNG_SEEN}, 1)`;
  loading.nextRun();
  return loading;
}

type Answer = (query: { state: string; offset: number; limit: number }) => ScriptedReply;

async function sweep(loading: Loading, answer: Answer) {
  const script: Script = (_request, { searchParams }) => {
    const [limit = 0, offset = 0] = ["limit", "offset"].map((name) => Number(searchParams.get(name)));
    return answer({ state: searchParams.get("state") ?? "", limit, offset });
  };
  const now = "2024-05-15T15:00:00Z";
  const { paths: requests, messages } = await follow(loading, script, { now, maxDetails: 0, retries: 0 });
  return { requests, messages };
}

function page(builds: readonly unknown[], { offset, limit }: Parameters<Answer>[0]): ScriptedReply {
  const end = offset + limit;
  const next = end < builds.length ? `/api/v1/build/?limit=${limit}&offset=${end}` : null;
  const meta = { limit, offset, next, previous: null, total_count: builds.length };
  return { body: { meta, objects: builds.slice(offset, end) } };
}

const hanging = (from: number, to: number, over: Record<string, unknown> = {}) =>
  Array.from({ length: to - from + 1 }, (_, n) => wireBuild(String(from + n), { date: MADE, ...over }));
const unseen = ({ sql }: Loading) => sql<{ id: string }[]>`
  select build_id as id from sync.open_builds where seen_at <= ${HUNG_SEEN}::timestamptz order by build_id::int`;

describe("builds that hang by the hundred", () => {
  test("are looked at by the list of their state, and what it does not show stays due", async () => {
    await using loading = await startHanging();
    const { requests } = await sweep(loading, (query) => page(hanging(1, 207), query));
    const pages = ["", "&offset=100", "&offset=200"];
    expect(requests).toEqual(pages.map((at) => `/api/v1/build/?format=json&state=triggered&limit=100${at}`));
    expect((await unseen(loading)).map(({ id }) => id)).toEqual(["208", "209", "210"]);
    expect(await loading.sql`select 1 from mirror.build_transitions where seq > 1`).toEqual([]);
    // They were seen: the next round has nothing to look at.
    expect((await sweep(loading, () => ({ status: 500 }))).requests).toEqual([]);
  });

  test("are not looked for again within the hour in a list that did not show them", async () => {
    await using loading = await startHanging({ builds: 500 });
    const answer: Answer = (query) => page(hanging(1, 50), query);
    expect((await sweep(loading, answer)).requests).toHaveLength(1);
    expect((await sweep(loading, answer)).requests).toEqual([]);
    await loading.sql`update sync.open_builds set seen_at = seen_at - interval '1 hour'`;
    expect((await sweep(loading, answer)).requests).toHaveLength(1);
  });

  test("are left to their details where the service shows other states as well", async () => {
    await using loading = await startHanging();
    const { requests, messages } = await sweep(loading, (query) =>
      page([...hanging(1, 3), ...hanging(300, 600, { state: "finished" })], query),
    );
    expect(requests).toHaveLength(1);
    expect(messages.join()).toContain("does not filter its list of builds by state");
    expect(await unseen(loading)).toHaveLength(210);
    expect(await loading.sql`select 1 from mirror.builds`).toHaveLength(210);
  });

  test.each([
    ["the service's schema names no such filter", { filtering: { project: 1 } }],
    ["they are fewer", { builds: 199 }],
  ])("are left to their details where %s", async (_, options) => {
    await using loading = await startHanging(options);
    expect(await sweep(loading, () => ({ status: 500 }))).toMatchObject({ requests: [] });
  });

  test("count as seen as far as a list goes that breaks off", async () => {
    await using loading = await startHanging();
    const { messages } = await sweep(loading, (query) =>
      query.offset > 0 ? { status: 500 } : page(hanging(1, 210), query),
    );
    expect(messages.join()).toContain("reading the list of stuck builds failed");
    expect(await unseen(loading)).toHaveLength(110);
  });

  test("are left alone when the service does not answer, which is logged", async () => {
    await using loading = await startHanging();
    const { messages } = await sweep(loading, () => ({ instead: "hang up" }));
    expect(messages.join()).toContain("reading the list of stuck builds failed");
    expect(await unseen(loading)).toHaveLength(210);
  });

  test("are not followed without end in a list that has always one page more", {
    tags: ["long"],
  }, async () => {
    await using loading = await startHanging();
    const { requests } = await sweep(loading, (query) =>
      page(hanging(1, query.offset + 2 * query.limit), query),
    );
    expect(requests).toHaveLength(6);
  });
});
