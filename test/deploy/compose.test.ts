/** @module-tag long */
import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stringify } from "yaml";
import { systemClock } from "../../src/base/clock.ts";
import { RESOURCES } from "../../src/resources/resources.ts";
import { docker, ROOT, whyNoContainers } from "../support/docker.ts";
import { useFolder } from "../support/folder.ts";
import { freePort } from "../support/free-port.ts";

const missing = await whyNoContainers();
const PROJECT = `docmirror-test-${randomBytes(6).toString("hex")}`;
/** For what hangs: beside other tests a build once took more than six minutes. */
const BUILD_MS = 900_000;
/** For what hangs, and no measure: beside other tests the first night once took more than two minutes. */
const UP_MS = 300_000;
const PASSWORDS = {
  superuser_password: "sup'er\"user\\",
  database_password: "p@ss:w/o?r#d&x=1%41+%zz '\"\\$HOME`id` ü€😀",
  worker_password: "w0rker: \"'\\ #%41 ü",
  reader_password: " reader's $1 % ",
  grafana_password: "not used here",
};

describe.skipIf(missing)(`docker-compose.yml${missing ? `, skipped: ${missing}` : ""}`, () => {
  const folder = useFolder("docmirror-compose-");
  let service: string;
  let env: Record<string, string>;

  const compose = (args: readonly string[], timeout = UP_MS) =>
    docker(
      [
        ...["compose", "--project-name", PROJECT, "--project-directory", ROOT],
        ...["--file", "docker-compose.yml", "--file", folder.at("test.yml")],
        ...["--env-file", "/dev/null", "--profile", "demo", ...args],
      ],
      env,
      timeout,
    );

  const containersOf = async (name: string) =>
    (await compose(["ps", "--all", "--quiet", name])).split("\n").filter(Boolean);
  /** Where a worker answers, by its number from 1. */
  const pageOf = async (number: number) =>
    `http://${await compose(["port", "--index", String(number), "worker", "8321"])}`;
  const inspect = async (container: string) => JSON.parse(await docker(["inspect", container]))[0];

  /** Ends a container's process as a crash does. `docker kill` would count as a stop by hand, which no policy restarts. */
  async function crash(container: string): Promise<void> {
    const { State, RestartCount } = await inspect(container);
    const kill = ["--pid", "host", "--user", "0", "--entrypoint", "sh", env.DOCKER_IMAGE ?? ""];
    await docker(["run", "--rm", ...kill, "-c", `kill -9 ${State.Pid}`]);
    // Until then its health is still that of the process that was killed.
    await untilTrue("a restart", async () => (await inspect(container)).RestartCount > RestartCount);
  }

  /** What the containers wrote last, the worker's first, since a report of the failure may be cut. */
  async function lastLines(): Promise<string> {
    const lines = [];
    for (const name of ["worker", "migrate", "db", "simulate"])
      lines.push(await compose(["logs", "--tail", "30", name]));
    return lines.join("");
  }

  async function untilTrue(what: string, isTrue: () => Promise<boolean>): Promise<void> {
    const until = performance.now() + UP_MS;
    while (!(await isTrue().catch(() => false))) {
      if (performance.now() > until) throw new Error(`${what} did not come true:\n${await lastLines()}`);
      await systemClock.sleep(200);
    }
  }
  const untilHealthy = (...names: string[]) =>
    untilTrue(`health of ${names.join(", ")}`, async () => {
      const all = (await Promise.all(names.map(containersOf))).flat();
      const states = await Promise.all(all.map(inspect));
      return states.length > 0 && states.every(({ State }) => State.Health.Status === "healthy");
    });

  /** Asks the database as a role, over TCP with its password, unless it is the superuser. */
  async function ask(statement: string, role = "postgres"): Promise<string> {
    const [db = ""] = await containersOf("db");
    const secrets = { docmirror: "database", docmirror_worker: "worker", grafana: "reader" };
    const secret = `/run/secrets/${secrets[role as keyof typeof secrets]}_password`;
    const login =
      role === "postgres"
        ? "exec psql -XAtqU postgres"
        : `PGPASSWORD="$(cat ${secret})" exec psql -XAtqh 127.0.0.1 -U ${role}`;
    return docker(["exec", db, "sh", "-c", `${login} -d docmirror -c "$0"`, statement]);
  }
  /** Syncs only: a round of the watch ends at once while no builds are mirrored. */
  const countNights = async (status = "succeeded") =>
    Number(await ask(`select count(*) from sync.runs where kind <> 'watch' and status = '${status}'`));

  /** What is answered at a URL. A 503 says to ask again, and a machine that is busy with other tests has some. */
  async function documentAt(url: string): Promise<unknown> {
    let reply = await fetch(url);
    await untilTrue(`a reply of ${url}`, async () => {
      if (reply.status === 503) reply = await fetch(url);
      return reply.status !== 503;
    });
    const body = await reply.text();
    expect(reply.status, body).toBe(200);
    return JSON.parse(body);
  }
  /** Each record of each list, by its URI. */
  async function recordsAt(url: string): Promise<Map<string, unknown>> {
    const records = new Map<string, unknown>();
    for (const resource of RESOURCES) {
      for (let offset = 0, total = 1; offset < total; offset += 1000) {
        type Page = { meta: { total_count: number }; objects: { resource_uri: string }[] };
        const page = await documentAt(`${url}/api/v1/${resource}/?format=json&limit=1000&offset=${offset}`);
        const { meta, objects } = page as Page;
        for (const record of objects) records.set(record.resource_uri, record);
        total = meta.total_count;
        if (objects.length === 0) break;
      }
    }
    return records;
  }
  /** A first night in which each container is killed on its way. */
  async function haveRoughNight(): Promise<void> {
    await compose(["up", "--detach", "db"]);
    await untilHealthy("db");
    // Keeps the migration from its end, so that the kill cannot come too late.
    const held = ask("create schema report; select pg_sleep(600)").catch(() => "ended");
    const sessions = (where: string) => `select pid from pg_stat_activity where ${where}`;
    const isThere = (where: string) => async () => (await ask(sessions(where))) !== "";
    await untilTrue("the hold", isThere("wait_event = 'PgSleep'"));
    await compose(["up", "--detach", "--no-deps", "migrate"]);
    await untilTrue("a waiting migration", isThere("usename = 'docmirror' and wait_event_type = 'Lock'"));
    const [migrate = ""] = await containersOf("migrate");
    await crash(migrate);
    await ask("select pg_terminate_backend(pid) from pg_stat_activity where wait_event = 'PgSleep'");
    expect(await held).toBe("ended");
    await compose(["up", "--detach"]);
    const [db = ""] = await containersOf("db");
    const [worker = ""] = await containersOf("worker");
    await untilTrue("the first night", async () => (await countNights("running")) > 0);
    await crash(worker);
    await untilTrue("a second night", async () => (await countNights("interrupted")) > 0);
    await crash(db);
    await untilTrue("a good night", async () => (await countNights()) > 0);
    await untilHealthy("db", "worker", "simulate");
    for (const container of [worker, db]) expect((await inspect(container)).RestartCount).toBe(1);
  }
  /** A figure for all rows that hold what was read, when it was seen first included. */
  const rows = () =>
    ask(
      [...RESOURCES.map((resource) => `${resource}s`), "build_transitions"]
        .map((table) => `select md5(string_agg(t::text, '|' order by t::text)) from mirror.${table} t`)
        .join(" union all "),
    );

  beforeAll(
    async () => {
      for (const [name, password] of Object.entries(PASSWORDS)) {
        writeFileSync(folder.at(name), `${password}\n`);
        chmodSync(folder.at(name), 0o444);
      }
      const [workerPort, servicePort] = [await freePort(), await freePort()];
      service = `http://127.0.0.1:${servicePort}`;
      env = {
        SECRETS_DIR: folder.path,
        // More than two, because any of them may be taken. Docker passes over it.
        WORKER_PORTS: `${workerPort}-${workerPort + 9}`,
        DOCMIRROR_BASE_URL: "http://simulate:8000",
        DOCKER_IMAGE: `${PROJECT}:latest`,
      };
      // A night each 15 s, and long enough to be hit. Nothing happens at the service, so all must stay equal.
      const often = { DOCMIRROR_SYNC_CRON: "*/15 * * * * *" };
      const nights = { ...often, DOCMIRROR_RATE: "10", DOCMIRROR_PAGE_SIZE: "100" };
      // Without a start, a container that starts again would live in another now, with other dates.
      const simulate = "simulate --host 0.0.0.0 --port 8000 --speed 0 --start 2026-01-01 --builds 3000";
      const overrides = {
        services: {
          worker: { environment: nights, healthcheck: { interval: "3s" } },
          simulate: { command: simulate.split(" "), ports: [`127.0.0.1:${servicePort}:8000`] },
        },
      };
      writeFileSync(folder.at("test.yml"), stringify(overrides, { version: "1.1" }));
      await compose(["build", "worker"], BUILD_MS);
      await haveRoughNight();
    },
    BUILD_MS + 3 * UP_MS,
  );

  afterAll(async () => {
    await compose(["down", "--volumes", "--timeout", "5"]);
    await docker(["image", "rm", env.DOCKER_IMAGE ?? ""]);
  }, UP_MS);

  it("answers as the service does, though migrate, worker and database were killed in the first night", async () => {
    const [theirs, ours] = await Promise.all([recordsAt(service), recordsAt(await pageOf(1))]);
    expect(theirs.size).toBeGreaterThan(1000);
    expect(ours).toEqual(theirs);
    expect(await countNights("interrupted")).toBeGreaterThan(0);
    expect((await fetch(await pageOf(1))).status).toBe(200);
  });

  it("has the same rows after each container was killed, and after down and up", {
    timeout: UP_MS * 4,
  }, async () => {
    const before = await rows();
    for (const name of ["db", "worker", "simulate"]) {
      const [container = ""] = await containersOf(name);
      await crash(container);
      await untilHealthy("db", "worker", "simulate");
      expect(await rows(), name).toBe(before);
    }
    await compose(["down"]);
    expect(await containersOf("db")).toEqual([]);
    await compose(["up", "--detach"]);
    await untilHealthy("db", "worker");
    expect(await rows()).toBe(before);
    const nights = await countNights();
    await untilTrue("one more night", async () => (await countNights()) > nights);
    expect(await rows()).toBe(before);
  });

  it("has a second worker that answers too, and leads when the first one is dead", {
    timeout: UP_MS * 3,
  }, async () => {
    await compose(["up", "--detach", "--no-recreate", "--scale", "worker=2"]);
    await untilHealthy("worker");
    for (const number of [1, 2])
      expect((await fetch(`${await pageOf(number)}/api/v1/build/?limit=1`)).status).toBe(200);
    const leader = () => ask("select host from sync.leases where name = 'lead'");
    const workers = await containersOf("worker");
    // The host of a container is the beginning of its id. One of a container that is gone may still stand there.
    const isLed = async () => {
      const host = await leader();
      return workers.some((id) => host !== "" && id.startsWith(host));
    };
    await untilTrue("a leader", isLed);
    const dead = await leader();
    // By hand, so that no policy starts it again.
    await docker(["kill", dead]);
    await untilTrue("a new leader", async () => (await leader()) !== dead);
    const nights = await countNights();
    await untilTrue("a night of the new leader", async () => (await countNights()) > nights);
    await compose(["up", "--detach", "--scale", "worker=1"]);
    await untilHealthy("worker");
  });

  it("gives the owner its database only, the worker's role no table, and Grafana's role the reports only", {
    timeout: UP_MS,
  }, async () => {
    for (const [statement, answer] of [
      ["select rolname from pg_roles where rolsuper or rolcreaterole or rolcreatedb", "postgres"],
      ["select pg_get_userbyid(datdba) from pg_database where datname = current_database()", "docmirror"],
      ["select count(*) from pg_class where pg_get_userbyid(relowner) = 'docmirror_worker'", "0"],
      [
        "select distinct usename from pg_stat_activity where application_name ~ '^docmirror worker lease'",
        "docmirror_worker",
      ],
    ] as const)
      expect(await ask(statement), statement).toBe(answer);
    for (const role of ["docmirror", "docmirror_worker"])
      expect(await ask("select current_user", role)).toBe(role);
    await expect(ask("select 1", "grafana")).rejects.toThrow("permission denied for database");
    await compose(["run", "--rm", "grant-reader"]);
    expect(await ask("select count(*) > 0 from report.freshness", "grafana")).toBe("t");
    await expect(ask("select from mirror.builds", "grafana")).rejects.toThrow("denied for schema mirror");
  });

  it("runs each container without rights", async () => {
    for (const name of ["db", "migrate", "worker", "simulate"]) {
      const [container = ""] = await containersOf(name);
      const { HostConfig, Config } = await inspect(container);
      const rights = { ReadonlyRootfs: true, CapDrop: ["ALL"], CapAdd: null, PidsLimit: 200 };
      expect(HostConfig, name).toMatchObject(rights);
      expect(HostConfig.SecurityOpt).toEqual(["no-new-privileges:true"]);
      expect(HostConfig.Memory).toBeGreaterThan(0);
      expect(HostConfig.NanoCpus).toBeGreaterThan(0);
      expect(HostConfig.LogConfig.Config).toEqual({ "max-file": "5", "max-size": "10m" });
      expect(Config.User).toMatch(/^[1-9]\d*:[1-9]\d*$/);
      const text = JSON.stringify([Config, HostConfig]);
      for (const password of Object.values(PASSWORDS))
        expect(text).not.toContain(JSON.stringify(password).slice(1, -1));
    }
  });
});
