import { EventEmitter, once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import {
  type Delivered,
  deliverNotices,
  listNotices,
  retryNotices,
  waitAfter,
} from "../../src/notify/outbox.ts";
import { createReceiver } from "../../src/notify/receiver.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { createKeptLog } from "../support/quick-world.ts";
import { useDatabase } from "../support/use-database.ts";
import {
  startWebhookReceiver,
  WEBHOOK_KEY,
  type WebhookReceiver,
  webhookEnv,
} from "../support/webhook-receiver.ts";

const database = useDatabase(() => createTestDatabase({ max: 2 }), "test");
const { sql } = database;
let receiver: WebhookReceiver;
let kept: ReturnType<typeof createKeptLog>;
beforeEach(async () => {
  receiver = await startWebhookReceiver();
  kept = createKeptLog();
});
afterEach(async () => {
  expect(receiver.forged).toEqual([]);
  await receiver[Symbol.asyncDispose]();
});

const add = (count: number) => sql`
  insert into sync.notices (subject, type, data)
  select 'run/' || gen_random_uuid(), 'run.ended', jsonb_build_object('summary', 'notice ' || n) from generate_series(1, ${count}::int) as n`;

async function deliver(
  options: Partial<Parameters<typeof deliverNotices>[0]> = {},
): Promise<Pick<Delivered, "delivered" | "failed">> {
  const sender = createReceiver({
    url: receiver.url,
    key: WEBHOOK_KEY,
    format: "standard",
    clock: systemClock,
  });
  try {
    const { delivered, failed } = await deliverNotices({
      sql,
      receiver: sender,
      beginWithinMs: 60_000,
      log: kept.log,
      signal: new AbortController().signal,
      ...options,
    });
    return { delivered, failed };
  } finally {
    await sender.close();
  }
}

const pass = (time: string) => sql`
  update sync.notices set noted_at = noted_at - ${time}::interval, next_try_at = next_try_at - ${time}::interval,
    delivered_at = delivered_at - ${time}::interval, given_up_at = given_up_at - ${time}::interval`;

const givenUp = () => sql`select error from sync.notices where given_up_at is not null`;

const ids = () => receiver.notices.map(({ id }) => id);

describe("a round", () => {
  it("sends what waits, oldest first, each once", async () => {
    await add(5);
    expect(await deliver()).toEqual({ delivered: 5, failed: 0 });
    expect(receiver.notices.map(({ data }) => data.summary)).toEqual(
      [1, 2, 3, 4, 5].map((n) => `notice ${n}`),
    );
    expect(receiver.notices[0]?.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(await deliver()).toEqual({ delivered: 0, failed: 0 });
    expect(await sql`select from sync.notices where delivered_at is null or tries <> 1`).toHaveLength(0);
  });

  it("has at most a hundred notices", { tags: ["long"] }, async () => {
    await add(130);
    expect(await deliver()).toEqual({ delivered: 100, failed: 0 });
    expect(await deliver()).toEqual({ delivered: 30, failed: 0 });
    expect(new Set(ids()).size).toBe(130);
  });

  it("ends soon where the receiver is down, and a later one sends all when it is up again", async () => {
    receiver.respond = () => 503;
    await add(10);
    expect(await deliver()).toEqual({ delivered: 0, failed: 4 });
    const first = ids();
    // The others are tried before those that failed are due again.
    expect(await deliver()).toEqual({ delivered: 0, failed: 4 });
    receiver.respond = () => 200;
    await pass("1 hour");
    expect(await deliver()).toEqual({ delivered: 10, failed: 0 });
    expect(ids().slice(8, 12)).toEqual(first);
  });

  it("begins no try after its time, so that a slow receiver holds up nothing", async () => {
    await add(3);
    expect(await deliver({ beginWithinMs: -1 })).toEqual({ delivered: 0, failed: 0 });
    expect(receiver.notices).toEqual([]);
  });

  it("stops at once, and the notice under way is sent again later", async () => {
    const stop = new AbortController();
    receiver.respond = () => stop.abort(new Error("stopped"));
    await add(2);
    await expect(deliver({ signal: stop.signal })).rejects.toThrow("stopped");
    const waiting = await sql`select tries from sync.notices where delivered_at is null order by id`;
    expect(waiting).toEqual([{ tries: 1 }, { tries: 0 }]);
  });

  it("at the same time as another sends each notice once", async () => {
    receiver.respond = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 204;
    };
    await add(60);
    const rounds = await Promise.all([deliver(), deliver(), deliver()]);
    expect(rounds.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(60);
    expect(new Set(ids()).size).toBe(60);
    expect(receiver.notices).toHaveLength(60);
  });
});

describe("processes at the same time", () => {
  it("do not send what is under way, even with a retry", async () => {
    await add(1);
    receiver.respond = async () => {
      await retryNotices(sql);
      expect(await deliver()).toEqual({ delivered: 0, failed: 0 });
      return 500;
    };
    expect(await deliver()).toEqual({ delivered: 0, failed: 1 });
    receiver.respond = () => 204;
    // It waits for its next try now, which need not be waited for.
    await retryNotices(sql);
    expect(await deliver()).toEqual({ delivered: 1, failed: 0 });
    expect(receiver.notices).toHaveLength(2);
  });

  it("send each notice once, also one that retries", { tags: ["long"] }, async () => {
    receiver.respond = async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return 204;
    };
    await add(40);
    await sql`update sync.notices set given_up_at = now(), tries = 9, error = 'no answer' where id % 2 = 0`;
    const retry = () =>
      runCli(["notify", "--retry"], { env: { DATABASE_URL: database.url, ...webhookEnv(receiver) } });
    const results = await Promise.all([retry(), retry(), retry()]);
    expect(results.map(({ stderr }) => /"level":50/.test(stderr))).toEqual([false, false, false]);
    expect(receiver.notices).toHaveLength(40);
    expect(new Set(ids()).size).toBe(40);
  });
});

describe("a notice", () => {
  it("that failed is tried again after a wait that grows to an hour", () => {
    const least = [1, 2, 3, 8, 9, 50].map((tries) => waitAfter(tries, () => 0));
    const most = [1, 2, 3, 8, 9, 50].map((tries) => waitAfter(tries, () => 1));
    expect(least).toEqual([7500, 15_000, 30_000, 960_000, 1_800_000, 1_800_000]);
    expect(most).toEqual([15_000, 30_000, 60_000, 1_920_000, 3_600_000, 3_600_000]);
  });

  it("keeps its id, its body and its moment over all tries", async () => {
    receiver.respond = (_notice, _response, place) => (place < 2 ? 500 : 200);
    await add(1);
    for (let round = 0; round < 3; round++) {
      await deliver();
      expect((await deliver()).delivered).toBe(0);
      if (round < 2) await sql`update sync.notices set next_try_at = now()`;
    }
    await pass("1 minute");
    const [one, two, three] = receiver.notices.map(({ headers: _headers, ...rest }) => rest);
    expect(one).toEqual(two);
    expect(two).toEqual(three);
    expect(receiver.notices).toHaveLength(3);
  });

  it("is given up after a day, with its error and a line in the log", async () => {
    receiver.respond = () => 500;
    await add(1);
    let hours = 0;
    for (; hours < 48; hours++) {
      if ((await deliver()).failed === 0) break;
      await pass("1 hour");
    }
    expect(hours).toBe(25);
    expect(receiver.notices).toHaveLength(25);
    expect(await givenUp()).toEqual([{ error: "the receiver answered (500)" }]);
    expect(kept.messages().at(-1)).toBe("gave up notices");
    receiver.respond = () => 200;
    expect(await retryNotices(sql)).toBe(1);
    expect(await deliver()).toEqual({ delivered: 1, failed: 0 });
    expect(new Set(ids()).size).toBe(1);
  });

  it("is tried five times, also by a machine that slept all day", async () => {
    receiver.respond = () => 500;
    await add(1);
    for (let day = 0; day < 6; day++) {
      await deliver();
      await pass("23 hours");
    }
    expect(receiver.notices).toHaveLength(5);
  });

  it("is given up when it waited for a week", async () => {
    await add(1);
    await pass("8 days");
    expect(await deliver()).toEqual({ delivered: 0, failed: 0 });
    expect(receiver.notices).toEqual([]);
    expect(await givenUp()).toEqual([{ error: "it waited too long for a try" }]);
  });

  it("that the receiver never wants again (410) is given up at once", async () => {
    receiver.respond = () => 410;
    await add(2);
    await deliver();
    expect(receiver.notices).toHaveLength(2);
    expect(await sql`select from sync.notices where given_up_at is null`).toHaveLength(0);
  });

  it.each([
    ["600", 590, 601],
    // Our own wait is longer.
    ["1", 7, 16],
    // The day ends before.
    ["999999999", 86_000, 86_401],
    ["soon", 7, 16],
  ])("waits as Retry-After asks: %s", async (header, least, most) => {
    receiver.respond = (_notice, response) => void response.writeHead(429, { "retry-after": header }).end();
    await add(1);
    await deliver();
    const [row] = await sql<{ wait: number }[]>`
        select extract(epoch from next_try_at - now())::float8 as wait from sync.notices`;
    expect(row?.wait).toBeGreaterThan(least);
    expect(row?.wait).toBeLessThan(most);
  });

  it("does not wait for a moment that a wrong clock set", async () => {
    await add(1);
    await sql`update sync.notices set next_try_at = now() + interval '1 year', noted_at = now() + interval '1 year'`;
    expect(await deliver()).toEqual({ delivered: 1, failed: 0 });
  });

  it("is tried at most a hundred times, whatever the clock says", async () => {
    receiver.respond = () => 500;
    await add(1);
    await sql`update sync.notices set tries = 99, noted_at = now() + interval '1 year'`;
    await deliver();
    expect(await sql`select from sync.notices where given_up_at is not null`).toHaveLength(1);
  });

  it("whose process dies between sending and noting it is sent again with the same id", {
    tags: ["long"],
  }, async () => {
    await add(1);
    await using dying = startCli(["notify", "--retry"], {
      env: { DATABASE_URL: database.url, ...webhookEnv(receiver) },
    });
    receiver.respond = () => void dying.signal("SIGKILL");
    expect((await dying.ended).signal).toBe("SIGKILL");
    receiver.respond = () => 204;
    const error = "nothing is known of this try: it is under way, or its process ended";
    const noted = await sql`select tries, delivered_at, error from sync.notices`;
    expect(noted).toEqual([{ tries: 1, delivered_at: null, error }]);
    // Another process may still be sending it.
    expect(await deliver()).toEqual({ delivered: 0, failed: 0 });
    await pass("1 minute");
    expect(await deliver()).toEqual({ delivered: 1, failed: 0 });
    expect(ids()).toEqual([ids()[0], ids()[0]]);
  });

  it("whose database is lost between sending and noting it is sent again with the same id", async () => {
    await add(2);
    await withSql(database.url, { applicationName: "docmirror lost", max: 1 }, async (lost) => {
      receiver.respond = async () => {
        await sql`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'docmirror lost'`;
        await sql`alter table sync.notices rename to away`;
        return 204;
      };
      await expect(deliver({ sql: lost })).rejects.toThrow("could not deliver notices");
    });
    await sql`alter table sync.away rename to notices`;
    receiver.respond = () => 204;
    await pass("1 minute");
    expect(await deliver()).toEqual({ delivered: 2, failed: 0 });
    expect(receiver.notices).toHaveLength(3);
    expect(new Set(ids()).size).toBe(2);
  });

  it("that another process took after a freeze keeps the result of the later try", async () => {
    const steps = new EventEmitter();
    const thawed = once(steps, "thaw");
    receiver.respond = (_notice, _response, place) => (place === 0 ? thawed.then(() => 500) : 204);
    await add(1);
    const slow = deliver();
    await receiver.arrived(1);
    await pass("2 minutes");
    expect(await deliver()).toEqual({ delivered: 1, failed: 0 });
    steps.emit("thaw");
    expect(await slow).toEqual({ delivered: 0, failed: 1 });
    expect(await sql`select delivered_at is not null as is_over, error from sync.notices`).toEqual([
      { is_over: true, error: null },
    ]);
  });
});

describe("the outbox", () => {
  it("lists what waits first, then what ended last, and forgets after 30 days", async () => {
    await add(3);
    await deliver();
    await add(2);
    const outbox = await listNotices(sql, 10);
    expect(outbox).toMatchObject({ waiting: 2, delivered: 3, given_up: 0 });
    const told = outbox.notices.map(({ state, summary }) => summary?.replace("notice", state));
    expect(told).toEqual(["waiting 1", "waiting 2", "delivered 3", "delivered 2", "delivered 1"]);
    expect((await listNotices(sql, 1)).notices).toHaveLength(2);
    await deliver();
    await pass("31 days");
    await deliver({ log: silentLog });
    expect(await listNotices(sql, 10)).toEqual({ waiting: 0, delivered: 0, given_up: 0, notices: [] });
  });
});
