import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { collectNotices } from "../../src/notify/notify.ts";
import { bodyOf, signedHeaders } from "../../src/notify/receiver.ts";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "../support/database.ts";
import { useFolder } from "../support/folder.ts";
import { EACH_LIST } from "../support/mirror-rows.ts";
import { addLateBuild, addLook, QUIET_NIGHT } from "../support/quiet-night.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { WEBHOOK_KEY, WEBHOOK_SECRET } from "../support/webhook-receiver.ts";

const page = readFileSync(new URL("../../docs/notices.md", import.meta.url), "utf8");
const blocks = (language: string) =>
  [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].flatMap(([, name, text = ""]) =>
    name === language ? [text] : [],
  );

const NIGHT = "2026-03-11T02:20:00Z";

/** What a mirror notes in a night, by type. `look` refreshes the reports and looks for notices. */
async function notesOf(
  staleAfterMs: number,
  night: (sql: Sql, look: (now: string) => Promise<unknown>) => Promise<void>,
): Promise<Record<string, unknown>> {
  await using database = await createTestDatabase();
  const { sql } = database;
  await night(sql, async (now) => {
    await refreshReport(database.sql, REPORT_SETTINGS);
    await collectNotices(sql, { staleAfterMs, now });
  });
  const noted = await sql<{ type: string; data: unknown }[]>`select type, data from sync.notices order by id`;
  return Object.fromEntries(noted.map(({ type, data }) => [type, data]));
}

const badNight = () =>
  notesOf(30 * 3_600_000, async (sql, look) => {
    await sql.unsafe(`
      insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host) overriding system value
      values (40, 'full', 'succeeded', '2026-03-09 20:00Z', '2026-03-09 20:05Z', now(), 1, 'test');
      insert into sync.walks (run_id, resource, walk, started_at, finished_at, records)
      select 40, resource, 'whole', '2026-03-09 20:00Z', case resource when 'build' then timestamptz '2026-03-09 20:05Z' else '2026-03-10 20:00Z' end, 900
      from ${EACH_LIST} as resource;
      insert into mirror.projects (id, slug, name, default_version, source, listed, first_seen_at, changed_at, record_hash)
      values ('7', 'pip', 'Pip', 'latest', 'list', true, '2026-03-01Z', '2026-03-01Z', '');
      insert into mirror.versions (id, slug, project_id, first_seen_at, changed_at, record_hash)
      values ('31', 'latest', '7', '2026-03-01Z', '2026-03-01Z', '')`);
    const addBuild = async (id: string, date: string, success: boolean, runId: number) => {
      await sql`
        insert into mirror.builds (id, date, state, success, type, project_id, version_id, first_seen_at, changed_at, record_hash, changed_run_id)
        values (${id}, ${date}, 'finished', ${success}, 'html', '7', '31', ${date}, ${date}, '', ${runId})`;
      if (!success)
        await sql`insert into mirror.build_logs (build_id, error) values (${id}, 'fatal: could not read from remote repository')`;
    };
    await addBuild("1204", "2026-03-09 10:00", true, 40);
    await look("2026-03-10T12:00:00Z");
    await sql.unsafe(`
      insert into sync.runs (id, kind, status, started_at, finished_at, heartbeat_at, pid, host, error, unfinished) overriding system value
      values (41, 'incremental', 'partial', '2026-03-11 02:17Z', '2026-03-11 02:19Z', now(), 1, 'test',
        'GET https://docs.example.org/api/v1/build/ was not answered within 30000 ms', '{"deletions": 0, "waiting": 0, "references": 3, "open_builds": 0, "deficit": 0}');
      insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at, records)
      values (41, 'build', 'not_whole', 'the service was lost', '2026-03-11 02:17Z', '2026-03-11 02:19Z', 40);
      insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
        (41, 'build', 'commit', 'appeared', 'a text', '2026-03-11 02:17:30Z'),
        (41, 'version', 'uploaded', 'vanished', null, '2026-03-11 02:18Z');
      insert into sync.jobs (job, failed_at, error, failures) values ('backup', '2026-03-11 01:45Z',
        'the folder /backups is not there', 1)`);
    await addBuild("1210", "2026-03-10 09:30", false, 41);
    await addBuild("1211", "2026-03-10 14:00", true, 41);
    await look(NIGHT);
  });

/** Builds stop arriving, and come again. */
const quietNight = () =>
  notesOf(1e12, async (sql, look) => {
    const lookAgain = async (run: number, at: string) => {
      await addLook(sql, run, at);
      await look(at);
    };
    await sql.unsafe(QUIET_NIGHT);
    await lookAgain(1, "2026-03-10T22:00:00Z");
    await lookAgain(2, NIGHT);
    await addLateBuild(sql, "9000", "2026-03-11 02:30");
    await lookAgain(3, "2026-03-11T02:31:00Z");
  });

describe("docs/notices.md", () => {
  it("has an example of each type, as it is sent", async () => {
    const noted = { ...(await badNight()), ...(await quietNight()) };
    type Example = { type: string; timestamp: string; data: unknown };
    const examples = blocks("json").map((text) => JSON.parse(text) as Example);
    for (const { timestamp } of examples) expect(timestamp).toMatch(/^2026-03-11T02:20:\d\d\.\d{3}Z$/);
    const test = { summary: "This is a test notice of docmirror." };
    expect(Object.fromEntries(examples.map(({ type, data }) => [type, data]))).toEqual({ ...noted, test });
  });

  describe("verifies in", () => {
    const folder = useFolder("docmirror-notices-");
    const timestamp = "2026-03-11T02:20:00.000Z";
    const message = { id: "msg_1", type: "test", timestamp, data: { summary: "ünï ❤" } } as const;
    const body = bodyOf(message, "standard");
    const now = new Date();
    const headers = signedHeaders(message.id, body, WEBHOOK_KEY, now);
    const old = signedHeaders(message.id, body, WEBHOOK_KEY, new Date(now.getTime() - 600_000));
    const signature = headers["webhook-signature"] ?? "";
    const CASES: readonly [headers: Record<string, string>, body: string, isOurs: boolean][] = [
      [headers, body, true],
      // A receiver with two keys gets two signatures.
      [{ ...headers, "webhook-signature": `v1,AAAA ${signature}` }, body, true],
      [headers, `${body} `, false],
      [{ ...headers, "webhook-id": "msg_2" }, body, false],
      [{ ...headers, "webhook-timestamp": "soon" }, body, false],
      [{ ...headers, "webhook-signature": signature.replace("v1,", "") }, body, false],
      [{ ...headers, "webhook-signature": "" }, body, false],
      [old, body, false],
    ];

    const RECEIVERS = {
      Node: {
        command: process.execPath,
        program: `${blocks("js").join("\n")}
let text = "";
for await (const chunk of process.stdin) text += chunk;
const { secret, cases } = JSON.parse(text);
console.log(JSON.stringify(cases.map(([headers, body]) => isFromDocmirror(headers, body, secret))));`,
      },
      Python: {
        command: "python3",
        program: `${blocks("python").join("\n")}
import json, sys
given = json.load(sys.stdin)
print(json.dumps([is_from_docmirror(headers, body.encode(), given["secret"]) for headers, body, _ in given["cases"]]))`,
      },
    };

    it.for(Object.entries(RECEIVERS))("%s", ([, { command, program }], context) => {
      if (spawnSync(command, ["--version"]).status !== 0) context.skip(`there is no ${command}`);
      const path = folder.at("receiver.mjs");
      writeFileSync(path, program);
      const input = JSON.stringify({ secret: WEBHOOK_SECRET, cases: CASES });
      const { stdout, stderr } = spawnSync(command, [path], { input, encoding: "utf8" });
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual(CASES.map(([, , isOurs]) => isOurs));
    });
  });
});
