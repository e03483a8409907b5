/** @module-tag long */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Clock, systemClock } from "../../../src/base/clock.ts";
import { loadConfig } from "../../../src/base/config.ts";
import { StoreError } from "../../../src/base/errors.ts";
import { silentLog } from "../../../src/base/log.ts";
import { withDatabase } from "../../../src/cli/context/with-mirror.ts";
import { exitCodeOfRun } from "../../../src/mirror/run/close-run.ts";
import type { SyncResult } from "../../../src/mirror/run/run.ts";
import { readDefinitions } from "../../../src/report/definitions.ts";
import { type EmbeddedServer, openEmbedded } from "../../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../../src/store/migrate/migrate.ts";
import { runCli } from "../../support/cli.ts";
import { createTestDatabase, withTestSql } from "../../support/database.ts";
import { useFolder } from "../../support/folder.ts";
import { otherProcess } from "../../support/leases.ts";
import { mirrorRows } from "../../support/mirror-rows.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";
import { replaceDatabase } from "../../support/replace-database.ts";
import { later } from "../../support/tally.ts";

const definitions = readDefinitions();
/** Nothing of the sort that a crash of the server alone could lose is switched off; only a power cut may. */
const settings = { fsync: "off" };
/** A migrated server that is down, and the copy of its folder that a test has. */
const made = useFolder("docmirror-killed-");
let dataDir: string;
let quick: QuickWorld;
/** No reply comes before it. */
let held: Promise<unknown> = Promise.resolve();
/** What a run leaves that nobody disturbs. */
let calm: Record<string, string[]>;
beforeAll(async () => {
  const few = { users: 12, projects: 10, versions: 40, files: 20, builds: 300 };
  quick = await startQuickWorld(few, async (_request, next) => {
    await held;
    return next();
  });
  await quick.sync();
  calm = await mirrorRows(quick.databaseUrl);
  dataDir = made.at("first");
  await withServer(({ url }) => migrate(url, definitions).then(() => {}));
  return () => quick[Symbol.asyncDispose]();
});
let copies = 0;
beforeEach(() => {
  dataDir = made.at(`copy-${++copies}`);
  spawnSync("cp", ["-a", made.at("first"), dataDir]);
});

const open = () => openEmbedded({ dataDir, log: silentLog, settings });

/** Ends the server as a crash of the machine's memory would: at once, with nothing written any more. */
async function kill(): Promise<void> {
  const pid = Number(readFileSync(join(dataDir, "postgres", "postmaster.pid"), "utf8").split("\n")[0]);
  process.kill(pid, "SIGKILL");
  const isThere = () => {
    try {
      process.kill(pid, 0);
      return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
    } catch {
      return false;
    }
  };
  await expect.poll(isThere).toBe(false);
}

/** A run over the embedded server of this folder; `act` is done when the walk of builds is at its fifth page. */
async function syncWhile(url: string, clock: Clock, act: () => Promise<unknown>): Promise<SyncResult> {
  let acted: Promise<unknown> | undefined;
  // A statement begins when somebody waits for it.
  const start = async () => await act();
  await using connections = otherProcess(url);
  const result = await quick.sync({
    clock,
    connections,
    onProgress(resource, { pages }) {
      if (resource === "build" && pages >= 5) acted ??= start();
    },
  });
  await acted;
  return result;
}

const hasty: Clock = {
  now: () => quick.world.now(),
  sleep: (ms, signal) => systemClock.sleep(Math.min(ms, 250), signal),
};

/** A run over the mirror of this server has ended as one over a calm server. */
async function expectUndisturbed({ summary, error }: SyncResult, url: string): Promise<void> {
  expect(error).toBeNull();
  expect(summary.status).toBe("succeeded");
  expect(await mirrorRows(url)).toEqual(calm);
}

/** Runs against the embedded server of the test's folder. */
async function withServer(body: (server: EmbeddedServer) => Promise<void>): Promise<void> {
  const server = await open();
  try {
    await body(server);
  } finally {
    await server.close();
  }
}

const impatient: Clock = {
  now: () => quick.world.now(),
  sleep: (_ms, signal) => systemClock.sleep(1, signal),
};

describe("the server that a run writes to", () => {
  test("killed and started again costs the run nothing", async () => {
    let second: EmbeddedServer | undefined;
    await withServer(async ({ url }) => {
      const result = await syncWhile(url, hasty, async () => {
        await kill();
        second = await open();
      });
      await expectUndisturbed(result, url);
    }).finally(() => second?.close());
  });

  test("killed for good ends the run with exit code 4, and the hint names its log", async () => {
    const { config } = loadConfig({ flags: { "data-dir": dataDir }, env: {}, cwd: dataDir, isTty: false });
    const signal = new AbortController().signal;
    const failed = withDatabase({ config, log: silentLog, signal }, async ({ url }) => {
      const result = await syncWhile(url, impatient, kill);
      expect(exitCodeOfRun(result)).toBe(4);
      throw result.error;
    });
    await expect(failed).rejects.toBeInstanceOf(StoreError);
    await expect(failed).rejects.toMatchObject({
      exitCode: 4,
      hint: expect.stringContaining(join(dataDir, "postgres.log")),
    });
  });
});

describe("a server that takes no writes any more, as after a failover,", () => {
  /** Switches every session of the server, those that are open too. A run gets no reply meanwhile, so it does not end before. */
  const setReadOnly = (url: string, value: "on" | "off") => {
    held = switchReadOnly(url, value);
    return held;
  };
  const switchReadOnly = (url: string, value: "on" | "off") =>
    withTestSql(url, async (sql) => {
      await sql.unsafe(`alter system set default_transaction_read_only = ${value}`);
      await sql`select pg_reload_conf()`;
      const shown = async () => (await sql`show default_transaction_read_only`)[0];
      await expect.poll(shown).toEqual({ default_transaction_read_only: value });
    });
  const sessionsOf = (url: string) =>
    withTestSql(url, async (sql) => {
      const rows = await sql`
        select pid from pg_stat_activity where application_name like 'docmirror other%'`;
      return rows.map(({ pid }) => Number(pid));
    });
  const hint = expect.stringContaining("must name the primary");
  const refusal = { exitCode: 4, sqlstate: "25006", hint };

  test("is waited for in mid-run, and the sessions to it are left", () =>
    withServer(async ({ url }) => {
      let sessions: number[] = [];
      let waits = 0;
      const left: boolean[] = [];
      const clock: Clock = {
        ...hasty,
        async sleep(ms, signal) {
          waits += 1;
          if (waits === 12) {
            const now = await sessionsOf(url);
            left.push(!now.some((pid) => sessions.includes(pid)));
            await setReadOnly(url, "off");
          }
          await systemClock.sleep(Math.min(ms, 20), signal);
        },
      };
      const result = await syncWhile(url, clock, async () => {
        sessions = await sessionsOf(url);
        await setReadOnly(url, "on");
      });
      expect({ waits: waits >= 12, left }).toEqual({ waits: true, left: [true] });
      await expectUndisturbed(result, url);
      expect(await withTestSql(url, (sql) => sql`select from sync.quarantine`)).toHaveLength(0);
    }));

  test("ends a run that it does not come back to with exit code 4 and the hint, and the next at once", () =>
    withServer(async ({ url }) => {
      const result = await syncWhile(url, impatient, () => setReadOnly(url, "on"));
      expect(exitCodeOfRun(result)).toBe(4);
      expect(result.error).toMatchObject(refusal);
      const clock: Clock = { ...hasty, sleep: () => Promise.reject(new Error("it waited")) };
      await expect(syncWhile(url, clock, async () => {})).rejects.toMatchObject(refusal);
    }));
});

test("a server out of connections in mid-run is waited for", async () => {
  await using database = await createTestDatabase();
  const role = `limited_${Date.now()}`;
  const url = new URL(database.url);
  const admin = (query: string) => database.sql.unsafe(query);
  const name = url.pathname.slice(1);
  // Superusers have no limit.
  await admin(
    `create role ${role} login password 'limited'; grant ${decodeURIComponent(url.username)} to ${role}`,
  );
  try {
    Object.assign(url, { username: role, password: "limited" });
    let refusals = 0;
    const clock: Clock = {
      now: () => quick.world.now(),
      async sleep(ms, signal) {
        refusals += 1;
        if (refusals === 4) await admin(`alter role ${role} connection limit -1`);
        await systemClock.sleep(Math.min(ms, 5), signal);
      },
    };
    const { summary } = await syncWhile(replaceDatabase(url.href, name), clock, () => {
      held = admin(
        `alter role ${role} connection limit 0;
         select pg_terminate_backend(pid) from pg_stat_activity where usename = '${role}'`,
      );
      return held;
    });
    expect(summary.status).toBe("succeeded");
    expect(refusals).toBeGreaterThanOrEqual(4);
  } finally {
    await admin(`drop role ${role}`);
  }
});

test("of four syncs started at once one runs, and three exit 10 and say who runs", async () => {
  await using database = await createTestDatabase();
  let refused = 0;
  const held = later();
  await using world = await startQuickWorld({}, async (_request, next) => {
    await held.promise;
    return next();
  });
  const env = { DATABASE_URL: database.url, DOCMIRROR_RATE: "1000" };
  const ends = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const end = await runCli(["sync", "--base-url", world.simulation.url], { env });
      if (end.code === 10) refused += 1;
      // One that fails otherwise lets the test end too, and fails it below.
      if (refused === 3 || end.code !== 10) held.resolve();
      return end;
    }),
  );
  expect(ends.map(({ code }) => code).sort()).toEqual([0, 10, 10, 10]);
  for (const { code, stderr } of ends) {
    if (code === 10) expect(stderr).toMatch(/another run is under way: run 1, process \d+ on /);
  }
});
