import { request } from "node:http";
import { createGunzip } from "node:zlib";
import { describe, expect, it } from "vitest";
import { askFor } from "../../../src/report/ask.ts";
import { toCsv } from "../../../src/report/csv.ts";
import { type AnswerRow, readAnswer, withSnapshot } from "../../../src/report/read-answer.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { seedPages } from "../../support/served-pages.ts";

const pages = usePages(seedPages);

/** 20 MB of random digits, which no buffer between the two takes whole, not packed either. */
const WIDE = `
  insert into rollup.builds (build_id, project_id, version_id, type, outcome, is_settled, is_time_ambiguous, first_seen_at, record_hash)
  select string_agg(md5(random()::text), ''), '1', '-1', 'wide', 'vanished', true, false, now(), ''
  from generate_series(1, 8000) as build (n) cross join generate_series(1, 78) group by n`;

/** Reads until the end, or until the connection breaks off. `onFirst` runs after the first bytes. */
function readRaw(path: string, encoding: string, onFirst: () => Promise<unknown> = async () => {}) {
  return new Promise<{ isWhole: boolean; text: string; coding: string | undefined }>((resolve, reject) => {
    const sent = request(pages.url + path, { headers: { "accept-encoding": encoding } }, (reply) => {
      const coding = reply.headers["content-encoding"];
      const body = coding === "gzip" ? reply.pipe(createGunzip()) : reply;
      let text = "";
      let isFirst = true;
      const end = (isWhole: boolean) => resolve({ isWhole, text, coding });
      body.on("data", (chunk: Buffer) => {
        text += chunk;
        if (!isFirst) return;
        isFirst = false;
        body.pause();
        onFirst().then(() => body.resume(), reject);
      });
      body.on("end", () => end(reply.complete));
      body.on("error", () => end(false));
      reply.on("error", () => end(false));
    });
    sent.on("error", reject);
    sent.end();
  });
}

describe("an answer", () => {
  it.each([
    ["success_rate_daily", { since: "2026-01-01" }],
    ["fact_builds", { project: "pip", type: "html" }],
    ["fact_builds", {}],
    ["success_rate_by_project", {}],
    ["freshness", {}],
  ] as const)("of %s with %j has the rows of the question, as CSV and as JSON", async (relation, filters) => {
    const { columns, ...question } = askFor(relation, filters);
    const rows: AnswerRow[] = [];
    await withSnapshot(pages.sql, async (tx) => {
      for await (const batch of readAnswer(tx, question)) rows.push(...batch);
    });
    expect(rows.length).toBeGreaterThan(0);
    const objects = rows.map((row) => Object.fromEntries(columns.map((column, at) => [column, row[at]])));
    for (const [format, type, text] of [
      ["csv", "text/csv; charset=utf-8; header=present", toCsv([[...columns], ...rows])],
      ["json", "application/json", objects],
    ] as const) {
      const reply = await pages.get(`/report/${relation}.${format}?${new URLSearchParams(filters)}`);
      expect(reply.headers.get("content-type")).toBe(type);
      expect(reply.headers.get("content-disposition")).toBe(`attachment; filename="${relation}.${format}"`);
      // The lag grows between the two questions.
      if (format === "json") expect(still(await reply.json())).toBe(still(text));
      else if (relation !== "freshness") expect(await reply.text()).toBe(text);
    }
  });
  const still = (all: unknown) => JSON.stringify(all).replace(/"(?:replica_)?lag_s":[\d.]+/g, "");

  it("of no rows is an empty array, or the names of the columns", async () => {
    const text = async (format: string) =>
      (await pages.get(`/report/fact_builds.${format}?until=2001-01-01`)).text();
    expect(await text("json")).toBe("[]\n");
    expect(await text("csv")).toMatch(/^build_id,[^\n]*\r\n$/);
  });

  it.each([
    ["/report/failing_nw.json", 400, "did you mean failing_now"],
    ["/report/failing_nw.csv", 400, "did you mean failing_now"],
    ["/report/fact_builds.json?project=pipp", 400, "did you mean pip"],
    ["/report/fact_builds.csv?since=yesterday", 400, "since yesterday: give a day"],
    ["/report/runs.json?project=pip", 400, "cannot be narrowed by project"],
    ["/report/runs.xml", 404, "no page at this address"],
    ["/report/.json", 404, "no page at this address"],
    ["/report/runs", 404, "no page at this address"],
    ["/project/%ff", 404, "no page at this address"],
    ["/build/a/b", 404, "no page at this address"],
  ])("is refused with a reason: %s", async (path, status, words) => {
    const reply = await pages.get(path);
    expect([reply.status, await reply.text()]).toEqual([status, expect.stringContaining(words)]);
  });

  it("has its type for a HEAD, which reads nothing", async () => {
    const head = await pages.get("/report/runs.json", { method: "HEAD" });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "application/json"]);
  });
});

describe("a streamed answer", () => {
  it.each(["csv", "json"])("as %s is the same packed and not", async (format) => {
    const path = `/report/fact_builds.${format}`;
    const [plain, packed] = await Promise.all([readRaw(path, "identity"), readRaw(path, "br, gzip")]);
    expect([plain.coding, packed.coding]).toEqual([undefined, "gzip"]);
    expect(packed.text).toBe(plain.text);
    expect([plain.isWhole, packed.isWhole]).toEqual([true, true]);
  });

  const ASKED = ["csv identity", "json gzip"];
  it.each(ASKED)("as %s breaks off visibly when the database is lost midway", {
    tags: ["long"],
  }, async (asked) => {
    const [format, coding = ""] = asked.split(" ");
    await pages.sql`delete from rollup.builds where type = 'wide'`;
    await pages.sql.unsafe(WIDE);
    const lose = () =>
      pages.sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
          where application_name = 'docmirror serve' and datname = current_database() and xact_start is not null`;
    const { isWhole, text } = await readRaw(`/report/fact_builds.${format}`, coding, lose);
    expect(isWhole).toBe(false);
    expect(text.length).toBeGreaterThan(0);
    if (format === "json") expect(() => JSON.parse(text)).toThrow(SyntaxError);
    await pages.sql`delete from rollup.builds where type = 'wide'`;
    await expect.poll(async () => (await pages.get("/report/runs.json")).status).toBe(200);
  });
});
