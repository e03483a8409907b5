import { beforeAll, describe, expect, it } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import type { BuildRecord } from "../../src/resources/resources.ts";
import { QUIET } from "../../src/simulate/settings.ts";
import { arrangeBuilds } from "../support/arranged-builds.ts";
import { runCli, startCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { assertNoSecret, PLANTED_SECRET } from "../support/planted-secret.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { startService, TINY } from "../support/service.ts";
import { createWorld } from "../support/simulation.ts";
import { useDatabase } from "../support/use-database.ts";
import { SECRET_PATH, startWebhookReceiver, webhookEnv } from "../support/webhook-receiver.ts";

const NOWHERE = { url: new URL(`http://127.0.0.1:1${SECRET_PATH}?sig=${PLANTED_SECRET}`) };

describe("notify --test", () => {
  it("sends a signed notice without a database, and says what came back", async () => {
    await using receiver = await startWebhookReceiver();
    const env = { ...webhookEnv(receiver), DATABASE_URL: "postgres://127.0.0.1:1/none" };
    const { code, stdout, stderr } = await runCli(["notify", "--test"], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+ took .* msg_[0-9a-f]{32}: 204 in \d+ ms\n$/);
    const data = { summary: "This is a test notice of docmirror." };
    expect(receiver.notices).toMatchObject([{ type: "test", data }]);
  });

  it("exits 5 and says why it was not taken, without path, query or secret", async () => {
    await using receiver = await startWebhookReceiver(() => 403);
    const refused = await runCli(["notify", "--test"], { env: webhookEnv(receiver) });
    expect(refused).toMatchObject({ code: 5, stdout: "" });
    expect(refused.stderr).toContain(`not delivered to ${receiver.url.origin}: the receiver answered (403)`);
    expect(refused.stderr).toContain("check that the receiver has the same secret");
    const lost = await runCli(["notify", "--test", "--json", "--verbose"], { env: webhookEnv(NOWHERE) });
    expect(lost.code).toBe(5);
    expect(JSON.parse(lost.stdout)).toMatchObject({
      receiver: "http://127.0.0.1:1",
      delivered: false,
      status: null,
      error: "connect ECONNREFUSED 127.0.0.1:1",
    });
    for (const { stdout, stderr } of [refused, lost]) assertNoSecret("the command", stdout + stderr);
  });

  it.each(["slack", "teams"])("sends one as %s takes it, without a secret or a signature", async (format) => {
    await using receiver = await startWebhookReceiver(() => (format === "teams" ? 202 : 200), 0, false);
    const { DOCMIRROR_WEBHOOK_URL } = webhookEnv(receiver);
    const env = { DOCMIRROR_WEBHOOK_URL, DOCMIRROR_WEBHOOK_FORMAT: format };
    expect(await runCli(["notify", "--test"], { env })).toMatchObject({ code: 0, stderr: "" });
    const [notice] = receiver.notices;
    expect(JSON.stringify(notice)).toContain("This is a test notice of docmirror.");
    expect(Object.keys(notice?.headers ?? {}).filter((name) => name.startsWith("webhook-"))).toEqual([]);
  });

  it("exits 2 without a webhook, and without a secret says how to make one", async () => {
    const none = await runCli(["notify", "--test"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("there is no webhook") });
    const { DOCMIRROR_WEBHOOK_URL } = webhookEnv(NOWHERE);
    const unsigned = await runCli(["notify", "--test"], { env: { DOCMIRROR_WEBHOOK_URL } });
    expect(unsigned.code).toBe(2);
    const [, command = ""] = /`(node -p .*)`/.exec(unsigned.stderr) ?? [];
    expect(command).toBe(`node -p "'whsec_' + crypto.randomBytes(32).toString('base64')"`);
    assertNoSecret("the command", unsigned.stderr);
  });
});

describe.each([["sync"], ["watch"], ["worker"]])("%s with a webhook and no secret", (command) => {
  it("exits 2 before it does anything", async () => {
    const { DOCMIRROR_WEBHOOK_URL } = webhookEnv(NOWHERE);
    const { code, stderr } = await runCli([command, "--base-url", "http://127.0.0.1:1"], {
      env: { DOCMIRROR_WEBHOOK_URL, DATABASE_URL: "postgres://127.0.0.1:1/none" },
    });
    expect(code).toBe(2);
    expect(stderr).toContain("DOCMIRROR_WEBHOOK_URL needs DOCMIRROR_WEBHOOK_SECRET");
  });
});

describe("notify", () => {
  it("lists what waits and what ended, and --retry sends it", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await using receiver = await startWebhookReceiver(() => 500);
    const env = { ...webhookEnv(receiver), DATABASE_URL: database.url };
    const bare = await runCli(["notify"], { env: { DATABASE_URL: database.url } });
    const stdout = expect.stringMatching(/^0 waiting, .*\nnothing is noted or/);
    expect(bare).toMatchObject({ code: 0, stdout });
    await database.sql`
      insert into sync.notices (subject, type, data, noted_at, tries, given_up_at, error) values
        ('run/1', 'run.ended', '{"summary": "The full sync (run 1) failed"}', '2026-01-02Z', 9, '2026-01-03Z', 'no answer within 15 s'),
        ('run/2', 'run.ended', '{"summary": "The full sync (run 2) failed"}', now(), 0, null, null)`;
    const list = await runCli(["notify"], { env });
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^state +noted +tries +next try or end +notice +error$/m);
    expect(list.stdout).toMatch(/^waiting .* 0 .*The full sync \(run 2\) failed$/m);
    expect(list.stdout).toMatch(/^given up +2026-01-02 00:00:00Z +9 .*failed +no answer within 15 s$/m);
    expect(list.stdout).toContain("1 waiting, 0 delivered and 1 given up in the last 30 days");
    expect(list.stdout).toContain(`sent to ${receiver.url.origin}\n`);

    const failed = await runCli(["notify", "--retry", "--json"], { env });
    expect(failed.code).toBe(5);
    expect(JSON.parse(failed.stdout)).toMatchObject({ tried_again: 1, delivered: 0, failed: 2, waiting: 2 });
    receiver.respond = () => 200;
    const sent = await runCli(["notify", "--retry"], { env });
    expect(sent).toMatchObject({ code: 0, stdout: "2 delivered, 0 failed, 0 still wait\n" });
    const json = JSON.parse((await runCli(["notify", "--json"], { env })).stdout);
    expect(json).toMatchObject({ waiting: 0, delivered: 2, given_up: 0 });
    const ended = { state: "delivered", type: "run.ended", next_try_at: null, error: null };
    expect(json.notices[0]).toMatchObject(ended);
    for (const { stdout, stderr } of [list, failed, sent]) assertNoSecret("the command", stdout + stderr);
  });
});

describe("sync", () => {
  it("sends what its run has to say, and exits as without a webhook", { tags: ["long"] }, async () => {
    await using database = await createTestDatabase();
    await using receiver = await startWebhookReceiver();
    await using service = await startService(TINY);
    const args = ["sync", "--base-url", service.url, "--rate", "0", "--retries", "0"];
    const env = { DATABASE_URL: database.url };
    const withHook = { ...env, ...webhookEnv(receiver) };
    expect((await runCli(args, { env: withHook })).code).toBe(0);
    expect(receiver.notices).toEqual([]);
    await service.close();
    const failed = await runCli(args, { env: withHook });
    expect(failed.code).toBe(5);
    expect(receiver.notices).toMatchObject([{ type: "run.ended", data: { run_id: 2, status: "failed" } }]);
    // A receiver that is down changes neither the code nor what is printed.
    const withDead = { ...env, ...webhookEnv(NOWHERE) };
    const alone = await runCli([...args, "--json"], { env: withDead });
    expect(alone.code).toBe(5);
    expect(JSON.parse(alone.stdout)).toMatchObject({ run_id: 3, status: "failed" });
    expect(alone.stderr).toContain("could not send all notices; the next run sends the rest");
    // Without the setting nothing is noted.
    expect((await runCli(args, { env })).code).toBe(5);
    expect(await database.sql`select subject, tries from sync.notices order by id`).toEqual([
      { subject: "run/2", tries: 1 },
      { subject: "run/3", tries: 1 },
    ]);
    for (const { stdout, stderr } of [failed, alone]) assertNoSecret("the command", stdout + stderr);
  });
});

describe("worker", () => {
  it("sends a break and a recovery once each, over many rounds and a receiver that fails at first", {
    tags: ["long"],
  }, async () => {
    await using database = await createTestDatabase();
    await using receiver = await startWebhookReceiver();
    const arranged = arrangeBuilds();
    const world = createWorld({ ...TINY, rates: QUIET, startAt: new Date(), clockSteps: false });
    await using service = await startService(world, { intercept: arranged.intercept });
    arranged.world = world;
    const added: BuildRecord[] = [];
    // Alone: one of the world's own that is under way would end within the test on a slow machine.
    arranged.arrange = () => added.toReversed();
    const all = { filters: [], offset: 0, limit: 1000 };
    const { records: versions } = await world.catalog().list("version", all);
    const { records: builds } = await world.catalog().list("build", all);
    const main = versions.find(({ slug, project }) => slug === (project.default_version || "latest"));
    if (!main) throw new Error("no project has its default version");
    const newest = builds[0];
    if (!newest) throw new Error("there are no builds");
    const addBuild = (success: boolean) => {
      const id = String(Number(newest.id) + added.length + 1);
      const at = new Date(Date.parse(`${newest.date}Z`) + (added.length + 1) * 1000);
      added.push({
        ...newest,
        id,
        success,
        date: at.toISOString().slice(0, -1),
        resource_uri: `/api/v1/build/${id}/`,
        state: "finished",
        type: "html",
        error: success ? "" : "fatal: no such branch",
        version: main.resource_uri,
        project: main.project.resource_uri,
      });
      return id;
    };
    addBuild(true);
    const args = ["worker", "--sync-cron", "0 0 29 2 *", "--watch-cron", "* * * * * *", "--http-port", "0"];
    const from = ["--rate", "0", "--base-url", service.url, "--database-url", database.url];
    await using cli = startCli([...args, ...from, "--source-timezone", world.settings.timeZone], {
      env: webhookEnv(receiver),
    });
    await cli.waitFor("stderr", /"sources":\[[^\]]*"projects"/);
    receiver.respond = (_notice, _response, place) => (place === 0 ? 500 : 204);
    const broken = addBuild(false);
    await cli.waitFor("stderr", /"job":"notify".*"msg":"run failed"/);
    await database.sql`update sync.notices set next_try_at = now()`;
    await receiver.arrived(2);
    addBuild(false);
    const fixed = addBuild(true);
    await receiver.arrived(3);
    addBuild(true);
    const brokenAgain = addBuild(false);
    await receiver.arrived(4);
    expect(receiver.notices.map(({ type, data }) => `${type} ${data.build_id}`)).toEqual([
      `project.broke ${broken}`,
      `project.broke ${broken}`,
      `project.recovered ${fixed}`,
      `project.broke ${brokenAgain}`,
    ]);
    expect(receiver.notices[0]?.id).toBe(receiver.notices[1]?.id);
    const { code, stdout, stderr } = await cli.stop();
    expect(code).toBe(143);
    assertNoSecret("the command", stdout + stderr);
  });
});

describe("notify --mute", () => {
  const database = useDatabase();
  let env: Record<string, string>;
  beforeAll(async () => {
    env = { DATABASE_URL: database.url };
    await database.sql`
      insert into mirror.projects (id, slug, name, source, listed, first_seen_at, changed_at, record_hash)
      values ('1', 'pip', 'Pip', 'list', true, now(), now(), '')`;
    await refreshReport(database.sql, REPORT_SETTINGS);
  });

  it("mutes a project for a while, shows that, and ends it again", async () => {
    const muted = await runCli(["notify", "--mute", "pip", "--for", "2d"], { env });
    expect(muted).toMatchObject({ code: 0, stderr: "" });
    expect(muted.stdout).toMatch(/^nothing is noted of pip until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/);
    expect((await runCli(["notify"], { env })).stdout).toContain("nothing is noted of pip until");
    expect((await runCli(["status"], { env })).stdout).toContain("no notices of pip until");
    const status = JSON.parse((await runCli(["status", "--json"], { env })).stdout);
    expect(status.muted_projects).toMatchObject([{ project_slug: "pip" }]);
    const ended = await runCli(["notify", "--unmute", "pip"], { env });
    expect(ended).toMatchObject({ code: 0, stdout: "pip is no longer muted\n" });
    expect(JSON.parse((await runCli(["status", "--json"], { env })).stdout).muted_projects).toEqual([]);
  });

  it.each([
    [["--mute", "pi", "--for", "2d"], "the mirror has no project pi"],
    [["--mute", "pip"], "--mute needs --for"],
    [["--for", "2d"], "--for goes with --mute"],
    [["--unmute", "pip"], "pip is not muted"],
    [["--mute", "pip", "--for", "soon"], "is not a time with its unit"],
    [["--mute", "pip", "--unmute", "pip"], "cannot be used with"],
  ])("refuses %j", async (args, message) => {
    const refused = await runCli(["notify", ...args], { env });
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(message) });
  });
});
