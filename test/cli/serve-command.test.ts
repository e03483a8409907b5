import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { runCli, startCli } from "../support/cli.ts";
import { absentDatabase, createTestDatabase, withTestSql } from "../support/database.ts";
import { createReader } from "../support/roles.ts";
import { seedPages } from "../support/served-pages.ts";

const ANY_PORT = ["serve", "--http-port", "0"];
const KILLED_RUN = `insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('watch', 'succeeded', now(), now(), now(), 1, 'killed before its refresh')`;
/** Port 1 answers on no machine that runs tests. */
const NOBODY = "postgres://nobody@127.0.0.1:1/none";

describe("serve", () => {
  it("prints its address, renews old figures, and serves until a signal", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await database.sql`update mirror.builds set state = 'finished', success = true, record_hash = 'x' where id = '2000'`;
    await database.sql.unsafe(KILLED_RUN);
    await using cli = startCli([...ANY_PORT, "--database-url", database.url]);
    const [url] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await cli.waitFor("stderr", /the figures are up to date/);
    const page = await (await fetch(`${url}/project/pip`)).text();
    expect(page).toContain("of 41 finished");
    const { port } = new URL(url);
    const second = await runCli(["serve", "--http-port", port, "--database-url", database.url]);
    expect(second).toMatchObject({ code: 2, stdout: "" });
    expect(second.stderr).toContain(`could not listen on 127.0.0.1, port ${port}: another program listens`);
    expect(await cli.stop()).toMatchObject({ code: 143, stdout: `${url}\n` });
  });

  it("serves with a role that can only read, which the database holds to it", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using role = await createReader(database, { withInterface: true });
    await database.sql`insert into mirror.files (id, first_seen_at, changed_at, first_seen_run_id, changed_run_id, record_hash)
      values ('1', now(), now(), 1, 1, '')`;
    await database.sql`insert into mirror.file_contents (file_id, docs_url, asked_at, asked_run_id, changed_run_id, fetched_at)
      values ('1', '', now(), 1, 1, now())`;
    // Its refresh is more than this role may do.
    await database.sql.unsafe(KILLED_RUN);
    await using cli = startCli(ANY_PORT, { env: { DATABASE_URL: role.url } });
    const [address] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    await cli.waitFor("stderr", /this role only reads/);
    for (const path of [
      ...["/", "/project/pip", "/build/1001", "/build/1004", "/build/2000", "/mirror", "/readyz"],
      ...["/status.json", "/report/runs.csv", "/openapi.json", "/api/v1/"],
      ...["/api/v1/project/?slug=pip", "/api/v1/user/", "/api/v1/version/pip/", "/api/v1/build/1001/"],
      ...["/api/v1/build/?project__slug=pip&version__slug=latest", "/api/v1/project/?users__username=ada"],
      ...["/api/v1/file/schema/", "/api/v1/file/search/?q=pip", "/api/v1/file/anchor/?q=pip"],
    ]) {
      expect([path, (await fetch(address + path)).status]).toEqual([path, 200]);
    }
    const { code, stderr } = await cli.stop();
    expect(code).toBe(143);
    expect(stderr).not.toMatch(/error|could not/i);

    const refusals = await withTestSql(role.url, async (sql) => {
      const codeOf = (statement: string) => sql.unsafe(statement).catch(({ code }) => code);
      const asItIs = await codeOf("create temporary table mine ()");
      await sql`set default_transaction_read_only = off`;
      const others = ["delete from mirror.files", "create table mirror.mine ()"].map(codeOf);
      return [asItIs, ...(await Promise.all(others))];
    });
    expect(refusals).toEqual(["25006", "42501", "42501"]);
  });

  it("loses no request of kept connections when it is asked to stop", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await seedPages(database.url);
    await using cli = startCli([...ANY_PORT], { env: { DATABASE_URL: database.url } });
    const [url] = await cli.waitFor("stdout", /^http:\/\/127\.0\.0\.1:\d+(?=\n)/);
    const agents = Array.from({ length: 20 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const answered = new Set<Agent>();
    /** Asks until the port is closed. Gives the header of its last reply. */
    const live = async (agent: Agent) => {
      for (let last: string | undefined; ; ) {
        const sent = request(`${url}/api/v1/build/?limit=1000`, { agent }).end();
        try {
          const [reply] = (await once(sent, "response")) as [IncomingMessage];
          await text(reply);
          expect([reply.statusCode, reply.complete]).toEqual([200, true]);
          last = reply.headers.connection;
          answered.add(agent);
        } catch (error) {
          expect(error).toMatchObject({ code: "ECONNREFUSED" });
          return last;
        }
      }
    };
    const lives = agents.map(live);
    await expect.poll(() => answered.size).toBe(agents.length);
    cli.signal("SIGTERM");
    expect(new Set(await Promise.all(lives))).toEqual(new Set(["close"]));
    const { code, stderr } = await cli.ended;
    expect(code).toBe(143);
    const lines = stderr.trim().split("\n");
    const messages = lines.map((line) => (line.startsWith("{") ? JSON.parse(line).msg : line));
    expect(messages.slice(messages.indexOf("stopping; a second signal ends at once"))).toEqual([
      "stopping; a second signal ends at once",
      "the port is closed; requests under way are still answered",
      "the server has ended",
      "docmirror: stopped by SIGTERM",
    ]);
    for (const agent of agents) agent.destroy();
  });

  it("is up while the database is down, says so, and still stops at once", { tags: ["long"] }, async () => {
    await using cli = startCli([...ANY_PORT, "--json", "--database-url", NOBODY]);
    const [printed] = await cli.waitFor("stdout", /\{[^}]*\}\n/);
    const { url } = JSON.parse(printed) as { url: string };
    const reply = await fetch(`${url}/`);
    expect(reply.status).toBe(503);
    expect(await reply.text()).toContain("The database does not answer");
    expect((await cli.stop("SIGINT")).code).toBe(130);
  });

  it("warns when it listens beyond the machine, and answers under the names that it is given", {
    tags: ["long"],
  }, async () => {
    const beyond = ["--http-host", "0.0.0.0", "--http-allowed-hosts", "mirror.example.org"];
    await using cli = startCli([...ANY_PORT, "--database-url", NOBODY, ...beyond]);
    const [url] = await cli.waitFor("stdout", /^http:\/\/0\.0\.0\.0:\d+(?=\n)/);
    await cli.waitFor("stderr", /no password: see DOCMIRROR_HTTP_HOST and DOCMIRROR_HTTP_ALLOWED_HOSTS/);
    const statusFor = async (host: string) => {
      const { port } = new URL(url);
      const sent = request({ host: "127.0.0.1", port, path: "/nosuch", headers: { host } }).end();
      const [reply] = await once(sent, "response");
      reply.resume();
      return reply.statusCode;
    };
    const statuses = await Promise.all(["mirror.example.org", "localhost", "evil.example"].map(statusFor));
    expect(statuses).toEqual([404, 404, 421]);
    expect((await cli.stop("SIGINT")).code).toBe(130);
  });

  it("ends where waiting cannot help", async () => {
    const ended = await runCli([...ANY_PORT, "--database-url", absentDatabase()]);
    expect(ended).toMatchObject({ code: 4, stderr: expect.stringContaining("database") });
  });
});
