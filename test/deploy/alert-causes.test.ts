/** @module-tag long */
import { once } from "node:events";
import { mkdir, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { describe, expect, it } from "vitest";
import { QUIET, type WorldOptions } from "../../src/simulate/settings.ts";
import { findFirings, hasPrometheus, labelSamples, namesIn, readRules } from "../support/alert-firings.ts";
import { makeCertificate } from "../support/certificate.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createTestDatabase, withTestSql } from "../support/database.ts";
import { linkDatabase } from "../support/database-link.ts";
import { createFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";
import { holdRefreshes } from "../support/leases.ts";
import { startService } from "../support/service.ts";
import { createWorld, type World } from "../support/simulation.ts";
import { WEBHOOK_SECRET } from "../support/webhook-receiver.ts";

const HOUR_S = 3600;
/** As often as Prometheus scrapes here. */
const STEP_S = 300;
/** The deficit has to last for 26 hours, and a list is stale after 30. */
const HELD_S = 32 * HOUR_S;
const SMALL: WorldOptions = { users: 30, projects: 10, versions: 15, files: 10, builds: 40 };

/** What a process showed before and after the cause; null where none answers. */
interface Course {
  before: string | null;
  after: string | null;
}

type Answer = (request: Request, next: () => Promise<Response>) => Promise<Response>;

interface Mirror {
  world: World;
  folder: string;
  databaseUrl: string;
  serviceUrl: string;
  /** From now on the service answers so. */
  answer(how: Answer): void;
  run(...args: string[]): Promise<number | null>;
  start(...args: string[]): ReturnType<typeof startCli>;
  scrape(): Promise<string>;
}

interface Cause {
  alert: string;
  cause: string;
  world?: WorldOptions;
  env?: Record<string, string>;
  happen(mirror: Mirror): Promise<Course>;
}

const refused: Answer = async () => new Response("", { status: 503 });

interface Page {
  meta: Record<string, number>;
  objects: object[];
}

/** A sync, another one from a service that changes the pages of a list, and the metrics of both. */
const withPages = (resource: string, change: (page: Page) => Page) => (mirror: Mirror) =>
  syncAgain(mirror, () =>
    mirror.answer(async (request, next) => {
      const reply = await next();
      if (!new URL(request.url).pathname.endsWith(`/api/v1/${resource}/`) || !reply.ok) return reply;
      return Response.json(change((await reply.json()) as Page));
    }),
  );

/** A sync, then a command some times in vain, with the metrics of both. */
const refusedTo =
  (times: number, ...command: string[]) =>
  async (mirror: Mirror) => {
    await mirror.run("sync");
    const before = await mirror.scrape();
    mirror.answer(refused);
    for (let nth = 0; nth < times; nth++) expect(await mirror.run(...command)).toBe(5);
    return { before, after: await mirror.scrape() };
  };

/** Metrics before and after a sync of all lists, from a service that has changed. */
async function syncAgain(mirror: Mirror, change: () => void): Promise<Course> {
  expect(await mirror.run("sync")).toBe(0);
  const before = await mirror.scrape();
  change();
  await mirror.run("sync", "--full");
  return { before, after: await mirror.scrape() };
}

/** What it shows once it has found its database, or lost it. */
async function metricsOf(cli: ReturnType<typeof startCli>, isUp = true): Promise<string> {
  const [url = ""] = await cli.waitFor("stderr", /http:\/\/[\d.]+:\d+/);
  let text = "";
  const read = async () => (text = await (await fetch(`${url}/metrics`)).text());
  await expect.poll(read).toMatch(new RegExp(`^docmirror_database_up ${Number(isUp)}$`, "m"));
  return text;
}

const CAUSES: Cause[] = [
  {
    alert: "DocmirrorListStale",
    cause: "no sync comes after the first",
    async happen(mirror) {
      await mirror.run("sync");
      const text = await mirror.scrape();
      return { before: text, after: text };
    },
  },
  {
    alert: "DocmirrorSyncFailing",
    cause: "the service answers 503 to three syncs",
    happen: refusedTo(3, "sync"),
  },
  {
    alert: "DocmirrorWatchFailing",
    cause: "the service answers 503 to thirty rounds",
    happen: refusedTo(30, "watch", "--once"),
  },
  {
    alert: "DocmirrorContractChanged",
    cause: "users get one field more",
    happen: withPages("user", ({ meta, objects }) => {
      return { meta, objects: objects.map((user) => ({ ...user, pronouns: "they" })) };
    }),
  },
  {
    alert: "DocmirrorDeficit",
    cause: "the service counts three builds more than it shows",
    happen: withPages("build", ({ meta, objects }) => {
      return { meta: { ...meta, total_count: (meta.total_count ?? 0) + 3 }, objects };
    }),
  },
  {
    alert: "DocmirrorDeletionsHeldBack",
    cause: "25 of 30 users are gone at once",
    happen: (mirror) =>
      syncAgain(mirror, () => {
        const users = [...mirror.world.truth().records("user")];
        for (const { record } of users.slice(0, 25)) mirror.world.deleteRecord("user", record.id);
      }),
  },
  {
    alert: "DocmirrorBuildsQuiet",
    cause: "the last of ten builds an hour came six hours ago",
    world: { ...SMALL, builds: 7000, outputBytes: 20, startAt: new Date(Date.now() - 6 * 3_600_000) },
    async happen(mirror) {
      await mirror.run("sync");
      return { before: null, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorBuildsStuck",
    cause: "six builds do not finish",
    world: { ...SMALL, stuckShare: 1 },
    env: { DOCMIRROR_STUCK_AFTER: "1s" },
    happen: (mirror) => syncAgain(mirror, () => void mirror.world.triggerBuilds(6)),
  },
  {
    alert: "DocmirrorQuarantineGrowing",
    cause: "a user without an id comes",
    happen: withPages("user", ({ meta, objects }) => {
      return { meta, objects: objects.map((user, place) => (place === 0 ? { ...user, id: null } : user)) };
    }),
  },
  {
    alert: "DocmirrorRecordsWrong",
    cause: "somebody writes to the builds, and the check after the next sync draws them",
    env: { DOCMIRROR_VERIFY_SAMPLE: "100" },
    happen: (mirror) =>
      syncAgain(mirror, () =>
        withTestSql(
          mirror.databaseUrl,
          async (sql) => void (await sql`update mirror.builds set type = 'pdf,html'`),
        ),
      ),
  },
  {
    alert: "DocmirrorNoLeader",
    cause: "the only worker stops",
    async happen(mirror) {
      const worker = mirror.start("worker", "--http-port", "0", "--sync-cron", "0 0 29 2 *");
      await worker.waitFor("stderr", /sync succeeded/);
      const before = await metricsOf(worker);
      await worker.stop();
      return { before, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorReportsBehind",
    cause: "another session keeps a sync from refreshing them",
    async happen(mirror) {
      await mirror.run("sync");
      const before = await mirror.scrape();
      return withTestSql(mirror.databaseUrl, async (holder) => {
        await holdRefreshes(holder);
        const url = new URL(mirror.databaseUrl);
        url.searchParams.set("lock_timeout", "1s");
        expect(await mirror.run("sync", "--database-url", url.href)).toBe(3);
        return { before, after: await mirror.scrape() };
      });
    },
  },
  {
    alert: "DocmirrorReportsFailing",
    cause: "somebody gave a table of the answers a constraint that they break",
    async happen(mirror) {
      await mirror.run("sync");
      const before = await mirror.scrape();
      await withTestSql(mirror.databaseUrl, (sql) =>
        sql.unsafe("alter table rollup.days add constraint few check (builds < 0) not valid"),
      );
      mirror.world.triggerBuilds(6);
      expect(await mirror.run("sync")).toBe(3);
      return { before, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorNoticesNotDelivered",
    cause: "nobody listens at the webhook when a sync fails",
    env: { DOCMIRROR_WEBHOOK_URL: "http://127.0.0.1:1/", DOCMIRROR_WEBHOOK_SECRET: WEBHOOK_SECRET },
    happen: (mirror) => syncAgain(mirror, () => mirror.answer(refused)),
  },
  {
    alert: "DocmirrorJobOverdue",
    cause: "the folder of the backups is gone when three are due",
    async happen(mirror) {
      await mirror.run("sync");
      const folder = join(mirror.folder, "backups");
      await mkdir(folder);
      expect(await mirror.run("backup", folder, "--keep", "14")).toBe(0);
      const before = await mirror.scrape();
      await rm(folder, { recursive: true });
      for (let nth = 0; nth < 3; nth++) expect(await mirror.run("backup", folder, "--keep", "14")).toBe(2);
      return { before, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorDatabaseFull",
    cause: "the database has grown for ten days, and its limit is near",
    env: { DOCMIRROR_DATABASE_LIMIT: "0.04" },
    async happen(mirror) {
      await mirror.run("sync");
      const before = await mirror.scrape();
      await withTestSql(
        mirror.databaseUrl,
        async (sql) =>
          void (await sql`
            insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, database_bytes)
            values ('full', 'succeeded', now(), now() - interval '10 days', now(), 1, 'h', 1000)`),
      );
      return { before, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorCertificateEnds",
    cause: "that of the service has two days left",
    async happen(mirror) {
      const certificate = makeCertificate("DNS:localhost");
      const authority = join(mirror.folder, "authority.crt");
      await writeFile(authority, certificate.cert);
      const { port } = new URL(mirror.serviceUrl);
      await using proxy = createTlsServer(certificate, (secured) => {
        const plain = connect(Number(port), "127.0.0.1");
        secured.on("error", () => {}).pipe(plain.on("error", () => {}));
        plain.pipe(secured);
      }).listen(0, "127.0.0.1");
      await once(proxy, "listening");
      const address = `https://localhost:${(proxy.address() as AddressInfo).port}`;
      const env = { DATABASE_URL: mirror.databaseUrl, NODE_EXTRA_CA_CERTS: authority, DOCMIRROR_RATE: "0" };
      expect((await runCli(["sync", "--base-url", address], { env })).code).toBe(0);
      return { before: null, after: await mirror.scrape() };
    },
  },
  {
    alert: "DocmirrorDatabaseDown",
    cause: "Postgres refuses connections",
    async happen(mirror) {
      await mirror.run("sync");
      await using link = await linkDatabase(mirror.databaseUrl);
      await using server = mirror.start("serve", "--http-port", "0", "--database-url", link.url);
      const before = await metricsOf(server);
      await link.cut();
      return { before, after: await metricsOf(server, false) };
    },
  },
  ...["DocmirrorDown", "DocmirrorInstanceDown"].map((alert) => ({
    alert,
    cause: "the process is killed",
    async happen(mirror: Mirror) {
      await mirror.run("sync");
      const server = mirror.start("serve", "--http-port", "0");
      const before = await metricsOf(server);
      const [url = ""] = await server.waitFor("stderr", /http:\/\/[\d.]+:\d+/);
      await server.stop("SIGKILL");
      await expect(fetch(`${url}/metrics`)).rejects.toThrow();
      return { before, after: null };
    },
  })),
  {
    alert: "DocmirrorFileOld",
    cause: "no run writes its metrics file again",
    async happen(mirror) {
      const file = join(mirror.folder, "docmirror.prom");
      expect(await mirror.run("sync", "--metrics-file", file)).toBe(0);
      // As node_exporter shows it.
      const seconds = Math.floor((await stat(file)).mtimeMs / 1000);
      const text = `node_textfile_mtime_seconds{file="${file}"} ${seconds}`;
      return { before: text, after: text };
    },
  },
];

async function withMirror({ world: options, env = {}, happen }: Cause): Promise<Course> {
  await using database = await createTestDatabase();
  using folder = createFolder("docmirror-alert-");
  const world = createWorld({ rates: QUIET, startAt: new Date(), ...(options ?? SMALL) });
  let answer: Answer = (_request, next) => next();
  await using service = await startService(world, { intercept: (request, next) => answer(request, next) });
  const all = {
    DATABASE_URL: database.url,
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_RATE: "0",
    ...env,
    DOCMIRROR_RETRIES: "0",
    DOCMIRROR_REPLICA_LAG: "0s",
  };
  const start = (...args: string[]) => startCli(args, { env: all });
  return await happen({
    world,
    folder: folder.path,
    start,
    databaseUrl: database.url,
    serviceUrl: service.url,
    answer(how) {
      answer = how;
    },
    run: async (...args) => (await runCli(args, { env: all })).code,
    async scrape() {
      await using server = start("serve", "--http-port", "0");
      return await metricsOf(server);
    },
  });
}

/** When each alert fired, in seconds after the cause, where what was shown lasts for a day before it and for more than a day after it. */
async function fire({ before, after }: Course): Promise<Map<string, number>> {
  const rules = readRules();
  const names = namesIn(rules);
  const now = Math.floor(Date.now() / 1000 / STEP_S) * STEP_S;
  const [first, last] = [now - 25 * HOUR_S, now + HELD_S];
  const labels = 'job="docmirror",instance="one"';
  const lines: string[] = [];
  for (let second = first; second <= last; second += STEP_S) {
    const text = second <= now ? before : after;
    lines.push(`up{${labels}} ${text === null && before !== null ? 0 : 1} ${second}`);
    if (text !== null) lines.push(...labelSamples(text, { names, labels, second }));
  }
  using folder = createFolder("docmirror-prometheus-");
  const samples = folder.at("samples.txt");
  await writeFile(samples, lines.join("\n"));
  const span = { fromMs: first * 1000, toMs: last * 1000, folder: folder.path, port: await freePort() };
  const firings = await findFirings(samples, rules, span);
  return new Map(firings.toReversed().map(({ alert, fromMs }) => [alert, fromMs / 1000 - now]));
}

const WHERE = "in a real Prometheus, by what real processes show";
describe.skipIf(!hasPrometheus())(WHERE, { timeout: 120_000 }, () => {
  it("there is a cause for each alert", () => {
    expect(CAUSES.map(({ alert }) => alert)).toEqual(readRules().map(({ alert }) => alert));
  });

  it.each(CAUSES)("$alert fires when $cause, and not before", { tags: ["exhaustive"] }, async (cause) => {
    const fired = await fire(await withMirror(cause));
    expect(fired.get(cause.alert)).toBeGreaterThanOrEqual(0);
    expect([...fired].filter(([, second]) => second < 0)).toEqual([]);
  });
});
