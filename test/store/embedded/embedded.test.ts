import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdir, readdir, readFile, stat, truncate, writeFile } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { withSql } from "../../../src/store/connection/connect.ts";
import { findServerAccount } from "../../../src/store/embedded/account.ts";
import { toDataDirError } from "../../../src/store/embedded/binaries.ts";
import {
  type EmbeddedServer,
  hasEmbedded,
  openDatabase,
  openEmbedded,
} from "../../../src/store/embedded/open-embedded.ts";
import { withTestSql } from "../../support/database.ts";
import { createFolder, useFolder } from "../../support/folder.ts";
import { listenOnLoopback } from "../../support/free-port.ts";

const log = silentLog;
const settings = { fsync: "off" };
const isRoot = process.geteuid?.() === 0;
let folder: ReturnType<typeof createFolder>;
let dataDir: string;
/** A server that was up once, and is down. Making one takes seconds, and copying it none. */
const made = useFolder("docmirror-embedded-made-");
beforeAll(async () => {
  await (await open(made.path)).close();
});
const prepare = (folder = dataDir) => spawnSync("cp", ["-a", `${made.path}/.`, folder]);
beforeEach(() => {
  folder = createFolder("docmirror-embedded-");
  dataDir = folder.path;
});
afterEach(async () => {
  const pid = await serverPid();
  if (isServerAlive(pid)) {
    process.kill(pid ?? 0, "SIGINT");
    await expect.poll(() => isServerAlive(pid)).toBe(false);
  }
  folder[Symbol.dispose]();
});

describe("the embedded Postgres", () => {
  test("starts, is UTF-8 on loopback alone, stops once with its last user", { tags: ["long"] }, async () => {
    const server = await open();
    expect(server.startedHere).toBe(true);
    const [row] = await query(
      server,
      `select current_database() as database, current_setting('server_encoding') as encoding,
              current_setting('listen_addresses') as listens, current_setting('unix_socket_directories') as sockets`,
    );
    expect(row).toEqual({ database: "docmirror", encoding: "UTF8", listens: "127.0.0.1", sockets: "" });
    const pid = await serverPid();
    await Promise.all([server.close(), server.close()]);
    expect(isServerAlive(pid)).toBe(false);
    await server.close();
  });

  test("keeps its data, its port and its password", { tags: ["long"] }, async () => {
    prepare();
    const first = await open();
    await query(first, "create table kept as select 1 as n");
    await first.close();
    await using second = await open();
    expect(second.url).toBe(first.url);
    expect(await query(second, "select n from kept")).toEqual([{ n: 1 }]);
  });

  test("its password is for its owner's eyes and lets in nobody without it", { tags: ["long"] }, async () => {
    prepare();
    await using server = await open();
    expect((await stat(join(dataDir, "password"))).mode & 0o777).toBe(0o600);
    const url = new URL(server.url);
    url.password = "wrong";
    await expect(query({ url: url.href }, "select 1")).rejects.toMatchObject({ code: "28P01" });
  });

  test("its folder and its log are for its owner alone, from the start", { tags: ["long"] }, async () => {
    const folder = join(dataDir, "above", "data");
    const server = await openEmbedded({ dataDir: folder, log, settings });
    await query(server, "create table kept as select 1 as n");
    expect(await modesIn(folder)).toEqual({ folder: 0o700, password: 0o600, log: 0o600 });
    await server.close();
    await using again = await open(folder);
    expect(await query(again, "select n from kept")).toEqual([{ n: 1 }]);
  });

  test("a folder that others may read is closed, the server still reads it", { tags: ["long"] }, async () => {
    prepare();
    await chmod(dataDir, 0o755);
    for (const name of ["password", "postgres.log"]) await chmod(join(dataDir, name), 0o644);
    await using server = await open();
    expect(await modesIn(dataDir)).toEqual({ folder: 0o700, password: 0o600, log: 0o600 });
    await query(server, "alter system set work_mem = '7MB'");
    await query(server, "select pg_reload_conf()");
    await expect.poll(() => query(server, "show work_mem")).toEqual([{ work_mem: "7MB" }]);
  });

  test("a folder that holds files of others as well keeps its rights", { tags: ["long"] }, async () => {
    await writeFile(join(dataDir, "notes.txt"), "");
    await chmod(dataDir, 0o755);
    await using _server = await open();
    expect(await modesIn(dataDir)).toEqual({ folder: 0o755, password: 0o600, log: 0o600 });
  });

  test("a second user joins the server, and only the last one out stops it", { tags: ["long"] }, async () => {
    prepare();
    const first = await startUser();
    const second = await open();
    expect(second.startedHere).toBe(false);
    expect(second.port).toBe(first.facts.port);
    await first.leave();
    expect(await query(second, "select 1 as one")).toEqual([{ one: 1 }]);
    const pid = await serverPid();
    await second.close();
    await expectStopped(pid);
  });

  test("another client, such as psql, keeps it from being stopped", { tags: ["long"] }, async () => {
    prepare();
    const server = await open();
    await withSql(server.url, { applicationName: "psql", max: 1 }, async (sql) => {
      await sql`select 1`;
      await server.close();
      expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    });
  });

  test("several first users at once all get in, and one has started it", { tags: ["long"] }, async () => {
    const users = await Promise.all([startUser(), startUser(), startUser()]);
    expect(users.filter(({ facts }) => facts.startedHere)).toHaveLength(1);
    expect(new Set(users.map(({ facts }) => facts.url)).size).toBe(1);
    const pid = await serverPid();
    await Promise.all(users.map((user) => user.leave()));
    await expectStopped(pid);
  });

  test("outlives a starter that is killed, and the next user joins it", { tags: ["long"] }, async () => {
    prepare();
    const starter = await startUser();
    const pid = await serverPid();
    await starter.kill();
    const next = await open();
    expect(next.startedHere).toBe(false);
    expect(await serverPid()).toBe(pid);
    await next.close();
    await expectStopped(pid);
  });

  test("runs in a session of its own, where Ctrl-C in the terminal does not reach it", {
    tags: ["long"],
  }, async () => {
    prepare();
    await using _server = await open();
    const pid = (await serverPid()) ?? 0;
    if (process.platform === "linux") {
      const fields = (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ");
      expect(fields?.[3]).toBe(String(pid));
    }
  });

  test("a killed server is recovered with what was committed", { tags: ["long"] }, async () => {
    prepare();
    const first = await open();
    await query(first, "create table kept as select 1 as n");
    const pid = (await serverPid()) ?? 0;
    process.kill(pid, "SIGKILL");
    await expect.poll(() => isServerAlive(pid)).toBe(false);
    const second = await open();
    expect(second.startedHere).toBe(true);
    expect(await query(second, "select n from kept")).toEqual([{ n: 1 }]);
    await second.close();
    await first.close();
  });

  test("a stale pid file whose number another program has is no obstacle", { tags: ["long"] }, async () => {
    prepare();
    const other = spawnOther();
    await writeFile(
      join(dataDir, "postgres", "postmaster.pid"),
      `${other.pid}\n${join(dataDir, "postgres")}\n1\n5432\n\n127.0.0.1\n  1 1\nready   \n`,
    );
    await using server = await open();
    expect(server.startedHere).toBe(true);
    expect(other.exitCode).toBeNull();
  });

  test.skipIf(!HAS_CONTAINERS)(
    "a container is killed, and the server of the next one gets the number in its pid file",
    {
      tags: ["long"],
    },
    async () => {
      const data = join(dataDir, "data");
      await mkdir(data);
      prepare(data);
      // The same happens twice, so both servers have the same number.
      for (let start = 0; start < 2; start++) {
        const { facts, kill } = await startUser(data, CONTAINER);
        await kill();
        await expect
          .poll(() => withTestSql(facts.url, (sql) => sql`select 1`).catch(({ code }) => code))
          .toBe("ECONNREFUSED");
      }
    },
  );

  test("a lock of a dead process, or of a number used anew, is taken over", { tags: ["long"] }, async () => {
    await writeFile(join(dataDir, "lock"), `${process.pid} 1@another-boot abc\n`);
    await (await open()).close();
    const dead = spawn("true");
    await once(dead, "exit");
    await writeFile(join(dataDir, "lock"), `${dead.pid} - abc\n`);
    await (await open()).close();
    expect((await readdir(dataDir)).filter((name) => name.startsWith("lock"))).toEqual([]);
  });

  test("what the initdb of a killed start still writes is made anew too", { tags: ["long"] }, async () => {
    const folder = join(dataDir, "postgres-unfinished-1", "cluster", "base");
    await mkdir(folder, { recursive: true });
    const writer = spawn(process.execPath, ["-e", WRITER, folder], { stdio: ["ignore", "pipe", "ignore"] });
    await once(writer.stdout, "data");
    await (await open()).close();
    expect((await readdir(dataDir)).sort()).toEqual(["password", "port", "postgres", "postgres.log"]);
  });

  test("a port that another program took is given up for a new one, which stays", {
    tags: ["long"],
  }, async () => {
    const taken = net.createServer();
    const { port } = await listenOnLoopback(taken);
    await writeFile(join(dataDir, "port"), `${port}\n`);
    const server = await open();
    expect(server.port).not.toBe(Number(port));
    await server.close();
    taken.close();
    await using again = await open();
    expect(again.port).toBe(server.port);
  });

  test("one who comes while it stops waits and starts it again", { tags: ["long"] }, async () => {
    const first = await open();
    const pid = (await serverPid()) ?? 0;
    process.kill(pid, "SIGINT");
    const second = await open();
    expect(second.startedHere).toBe(true);
    await second.close();
    await first.close();
  });

  test("an abort while it starts is obeyed and leaves nothing running", { tags: ["long"] }, async () => {
    const stop = new AbortController();
    const reason = new Error("stopped");
    const opening = openEmbedded({ dataDir, log, settings, signal: stop.signal });
    stop.abort(reason);
    await expect(opening).rejects.toBe(reason);
    await (await open()).close();
  });

  test("its log is cut when it has grown over 10 MB", { tags: ["long"] }, async () => {
    const file = join(dataDir, "postgres.log");
    await writeFile(file, "");
    await truncate(file, 11e6);
    await (await open()).close();
    expect((await stat(file)).size).toBeLessThan(1e6);
  });
});

describe("what is wrong with the data directory is told", () => {
  test("a file in its place", async () => {
    const file = join(dataDir, "file");
    await writeFile(file, "");
    await expect(openEmbedded({ dataDir: file, log })).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringMatching(/a file is in the way/),
      hint: expect.stringMatching(/DOCMIRROR_DATA_DIR/),
    });
    const below = openEmbedded({ dataDir: join(file, "below"), log });
    await expect(below).rejects.toMatchObject({ sqlstate: "ENOTDIR" });
  });

  test.skipIf(isRoot)("no right to write", async () => {
    await chmod(dataDir, 0o500);
    await expect(open()).rejects.toMatchObject({ exitCode: 4, sqlstate: "EACCES" });
    await chmod(dataDir, 0o700);
  });

  const belongsTo = (place: string, owner: string) => ({
    exitCode: 4,
    message: `The data in ${place} belongs to user ${owner}; run docmirror as that user`,
  });

  test.skipIf(!isRoot)("data that belong to another user, where root asks", { tags: ["long"] }, async () => {
    prepare();
    const nobody = someUser();
    await chown(join(dataDir, "postgres"), nobody, nobody);
    await expect(open()).rejects.toMatchObject(belongsTo(dataDir, "nobody"));
  });

  test("a folder of the server that others may enter", { tags: ["long"] }, async () => {
    prepare();
    const cluster = join(dataDir, "postgres");
    await chmod(cluster, 0o755);
    await expect(open()).rejects.toMatchObject({
      message: expect.stringContaining(`"${cluster}" has invalid permissions`),
      hint: `run \`chmod 700 ${cluster}\``,
    });
  });

  test("a folder that belongs to another user", async () => {
    if (isRoot) await chown(dataDir, someUser(), someUser());
    const [place, owner] = isRoot ? ([dataDir, "nobody"] as const) : (["/", "root"] as const);
    const refused = Object.assign(new Error("permission denied"), { code: "EACCES" });
    expect(toDataDirError(refused, place)).toMatchObject(belongsTo(place, owner));
  });

  test.skipIf(isRoot)("a folder that may not be looked into is not taken as empty", async () => {
    await chmod(dataDir, 0o000);
    expect(() => hasEmbedded(dataDir)).toThrow("no right");
    await chmod(dataDir, 0o700);
    expect(hasEmbedded(dataDir)).toBe(false);
  });

  test("data of another Postgres", async () => {
    await mkdir(join(dataDir, "postgres"));
    await writeFile(join(dataDir, "postgres", "PG_VERSION"), "14\n");
    await expect(open()).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringMatching(/data of Postgres 14/),
      hint: expect.stringMatching(/`docmirror backup` with the older.*`docmirror restore` with this/),
    });
  });

  test("a setting that the server does not take names its log", { tags: ["long"] }, async () => {
    prepare();
    await writeFile(join(dataDir, "postgres", "postgresql.auto.conf"), "no_such_setting = 1\n");
    await expect(open()).rejects.toMatchObject({
      exitCode: 4,
      message: expect.stringMatching(/no_such_setting/),
      hint: expect.stringContaining(join(dataDir, "postgres.log")),
    });
  });
});

describe("openDatabase", () => {
  test("takes DATABASE_URL where there is one, and starts nothing", async () => {
    const url = "postgres://me:secret@db.example/m";
    const database = await openDatabase({ databaseUrl: url, dataDir, log });
    expect(database).toMatchObject({ url, describe: "postgres://me:***@db.example:5432/m", embedded: null });
    expect(await readdir(dataDir)).toEqual([]);
    await database.close();
  });

  test("takes the embedded Postgres where there is none", { tags: ["long"] }, async () => {
    const database = await openDatabase({ databaseUrl: null, dataDir, log });
    expect(database.embedded).toMatchObject({ startedHere: true, logFile: join(dataDir, "postgres.log") });
    expect(database.describe).toMatch(/^postgres:\/\/docmirror:\*\*\*@127\.0\.0\.1:\d+\/docmirror$/);
    await database.close();
    await database.close();
  });
});

/** The number of nobody, a user that every system has. */
const someUser = () => Number(spawnSync("id", ["-u", "nobody"], { encoding: "utf8" }).stdout);

/** Left at the end of the test, unless it was before. */
async function open(folder = dataDir): Promise<EmbeddedServer & AsyncDisposable> {
  const server = await openEmbedded({ dataDir: folder, log, settings });
  return { ...server, [Symbol.asyncDispose]: server.close };
}

const query = (server: { url: string }, statement: string) =>
  withTestSql(server.url, async (sql) => [...(await sql.unsafe(statement))]);

async function modesIn(folder: string) {
  const modeOf = async (name: string) => (await stat(join(folder, name))).mode & 0o777;
  return { folder: await modeOf(""), password: await modeOf("password"), log: await modeOf("postgres.log") };
}

async function serverPid(): Promise<number | undefined> {
  const text = await readFile(join(dataDir, "postgres", "postmaster.pid"), "utf8").catch(() => "");
  return Number(text.split("\n")[0]) || undefined;
}

/** Signal 0 also reaches a zombie: a server that ended and whose parent, killed before, took no note. */
function isServerAlive(pid: number | undefined): boolean {
  if (pid === undefined) return false;
  try {
    process.kill(pid, 0);
    return process.platform !== "linux" || !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Any program that lives until the test ends, of the account that runs the server: those are what confuses it. */
function spawnOther(): ChildProcess {
  const stdio = ["pipe", "ignore", "ignore"] as const;
  const other = spawn("cat", { cwd: "/", stdio: [...stdio], ...findServerAccount().spawnAs });
  onTestFinished(() => void other.kill());
  return other;
}

/** Writes files into a folder for a while, as fast as it can, unless the folder goes. */
const WRITER = `
const { writeFileSync } = require("node:fs");
const until = Date.now() + 300;
for (let file = 0; Date.now() < until; file++) {
  writeFileSync(process.argv[1] + "/" + file, "");
  if (file === 0) process.stdout.write("begun");
}`;

/** In a process namespace of its own, which ends with its first process. */
const CONTAINER = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const HAS_CONTAINERS = spawnSync("unshare", [...CONTAINER.slice(1), "true"]).status === 0;

/** On a slow machine a session may outlive the wait for it: then the next user is the last one out. */
const expectStopped = (pid: Parameters<typeof isServerAlive>[0]) =>
  expect
    .poll(async () => {
      if (isServerAlive(pid)) await (await open()).close();
      return isServerAlive(pid);
    })
    .toBe(false);

async function startUser(folder = dataDir, within: readonly string[] = []) {
  const script = fileURLToPath(new URL("user-process.ts", import.meta.url));
  const [program = "", ...args] = [...within, process.execPath, "--import", "tsx", script, folder];
  const child = spawn(program, args);
  onTestFinished(() => void child.kill("SIGKILL"));
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [first] = await Promise.race([
    once(lines, "line"),
    exited.then(() => Promise.reject(new Error(complaint))),
  ]);
  return {
    facts: JSON.parse(first) as { url: string; port: number; startedHere: boolean },
    leave: async () => {
      child.stdin.end();
      await exited;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
