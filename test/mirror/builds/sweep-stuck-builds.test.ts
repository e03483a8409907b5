import { describe, expect, test } from "vitest";
import { sweepStuckBuilds } from "../../../src/mirror/builds/sweep-stuck-builds.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { createKeptLog } from "../../support/quick-world.ts";
import { type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild } from "../../support/wire-records.ts";

const MADE = "2024-05-14T12:00:00";
const SEEN = "2024-05-14T15:00:00Z";
const NOW = "2024-05-15T15:00:00Z";

interface Hanging {
  builds?: number;
  /** What the service's schema says of filters. */
  filtering?: Record<string, unknown>;
}

/** So many builds that were triggered and hung when they were seen last, a day ago. */
async function startHanging({ builds = 210, filtering = { state: 1 } }: Hanging = {}): Promise<Loading> {
  const loading = await setUpLoading();
  const records = Array.from({ length: builds }, (_, n) => wireBuild(String(n + 1), { date: MADE }));
  await loading.load("build", records, { at: SEEN });
  await loading.sql`
    insert into sync.upstream_schemas (resource, body_hash, body, first_seen_at, run_id)
    values ('build', '', ${JSON.stringify({ filtering })}::text::jsonb, ${SEEN}, 1)`;
  loading.nextRun();
  return loading;
}

type Answer = (query: { state: string; offset: number; limit: number }) => ScriptedReply;

async function sweep({ sql, loader }: Loading, answer: Answer) {
  const clock = createFakeClock({ startAt: NOW });
  await using server = await startScriptedServer((_request, { searchParams }) => {
    const [limit = 0, offset = 0] = ["limit", "offset"].map((name) => Number(searchParams.get(name)));
    return answer({ state: searchParams.get("state") ?? "", limit, offset });
  });
  await using client = createTestClient(server.url, { retries: 0, clock });
  const { log, messages } = createKeptLog();
  const run = {
    ...{ sql, client, loader, clock, log, runId: 2, patience: withStoreErrors },
    signal: new AbortController().signal,
    startedAt: new Date(NOW),
  };
  await sweepStuckBuilds(run, { pageSize: 100, stuckAfterMs: 7_200_000 });
  return { messages: messages(), requests: server.requests.map(({ path }) => path) };
}

/** A page of the list of builds as the query asks for. */
function page(
  builds: readonly unknown[],
  { offset, limit }: { offset: number; limit: number },
): ScriptedReply {
  const end = offset + limit;
  const next = end < builds.length ? `/api/v1/build/?limit=${limit}&offset=${end}` : null;
  return {
    body: {
      meta: { limit, offset, next, previous: null, total_count: builds.length },
      objects: builds.slice(offset, end),
    },
  };
}

const hanging = (from: number, to: number, over: Record<string, unknown> = {}) =>
  Array.from({ length: to - from + 1 }, (_, n) => wireBuild(String(from + n), { date: MADE, ...over }));
/** The builds that nobody has seen since the day before. */
const unseen = ({ sql }: Loading) => sql<{ id: string }[]>`
  select build_id as id from sync.open_builds where seen_at <= ${SEEN}::timestamptz order by build_id::int`;

describe("builds that hang by the hundred", () => {
  test("are looked at by the list of their state, and what it does not show stays due", async () => {
    await using loading = await startHanging();
    const { requests } = await sweep(loading, (query) => page(hanging(1, 207), query));
    expect(requests).toEqual([
      "/api/v1/build/?format=json&state=triggered&limit=100",
      "/api/v1/build/?format=json&state=triggered&limit=100&offset=100",
      "/api/v1/build/?format=json&state=triggered&limit=100&offset=200",
    ]);
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

  test("are not followed without end in a list that has always one page more", async () => {
    await using loading = await startHanging();
    const { requests } = await sweep(loading, (query) =>
      page(hanging(1, query.offset + 2 * query.limit), query),
    );
    expect(requests).toHaveLength(6);
  });
});
