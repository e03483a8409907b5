import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { listenOnLoopback } from "../support/free-port.ts";
import { useReportReader } from "../support/report-reader.ts";

const FOLDER = new URL("../../deploy/metabase/", import.meta.url);
const questions = readdirSync(new URL("questions/", FOLDER))
  .sort()
  .map((file) => {
    const content = readFileSync(new URL(`questions/${file}`, FOLDER), "utf8");
    const header = /^-- Title: (.+)\n-- Answers: (.+)\n-- Shown as: (\w+)(?: of (.+) by (\w+))?\n/.exec(
      content,
    );
    const [all = "", title = "", , display = "", metrics, dimension] = header ?? [];
    const drawn = [...(metrics?.split(", ") ?? []), dimension ?? []].flat();
    return { file, title, display, drawn, sql: content.slice(all.length) };
  });

/** Values as people may give them, as texts: that is what Metabase sends unless it is told a variable's type. */
const VALUES: Record<string, string> = {
  since: "2020-01-01",
  until: "2999-12-31",
  project: "project-1",
  type: "html",
  outcome: "stuck",
  at_least: "2",
};
/** With these nothing is left: a day far ahead or long ago, more builds than there are. Any other is a name of nothing. */
const NONE: Record<string, string> = { until: "0001-01-01", since: "9999-01-01", at_least: "99999999" };

/**
 * What Metabase makes of a question: a variable becomes a parameter, and a part in double brackets is left out unless all variables in it
 * have values.
 */
function expand(sql: string, values: Record<string, string>): { text: string; params: string[] } {
  const params: string[] = [];
  const text = sql
    .replace(/\[\[(.*?)\]\]/g, (_, part: string) =>
      [...part.matchAll(/\{\{(\w+)\}\}/g)].every(([, name = ""]) => name in values) ? part : "",
    )
    .replace(/\{\{(\w+)\}\}/g, (_, name: string) => `$${params.push(values[name] ?? "")}`);
  return { text, params };
}

const reader = useReportReader();

/** In this mirror no series flips more often than by chance. */
const WITHOUT_ROWS = ["flaky-series.sql"];

describe.each(questions)("questions/$file", ({ file, title, display, drawn, sql }) => {
  it("says what it is, and gives rows with the columns that it draws", async () => {
    expect(title).not.toBe("");
    expect(display).toMatch(/^(table|line|bar|row)$/);
    const rows = await reader.sql.unsafe(sql.replaceAll(/\[\[.*?\]\]/g, ""));
    expect(rows.length > 0).toBe(!WITHOUT_ROWS.includes(file));
    expect(rows.columns.map(({ name }) => name)).toEqual(expect.arrayContaining(drawn));
    expect(drawn.length > 0).toBe(display !== "table");
  });

  it("takes any of its variables, all of which may be left out, and no other", async () => {
    const names = new Set([...sql.matchAll(/\{\{(\w+)\}\}/g)].map(([, name = ""]) => name));
    expect(expand(sql, {}).text).not.toMatch(/[[{$]/);
    for (const name of names) {
      const { text, params } = expand(sql, { [name]: VALUES[name] ?? "" });
      expect(params).toHaveLength(1);
      const some = await reader.sql.unsafe(text, params);
      expect(some.length).toBeGreaterThan(0);
      expect(await reader.sql.unsafe(text, [NONE[name] ?? "it's"])).toHaveLength(0);
    }
    const { text, params } = expand(sql, VALUES);
    await reader.sql.unsafe(text, params);
  });
});

describe("import.mjs", () => {
  const KEY = "mb_a_key_for_a_test";
  const run = (environment: Record<string, string>) =>
    new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
      const script = fileURLToPath(new URL("import.mjs", FOLDER));
      const child = execFile(process.execPath, [script], { env: environment }, (_error, stdout, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout, stderr }),
      );
    });

  /** As much of Metabase as the import asks for. */
  async function startMetabase({ isAdmin = true, syncStatus = 403 } = {}) {
    const cards = new Map<number, Record<string, unknown>>();
    const asked: string[] = [];
    const collections: { id: number; name: string }[] = [];
    const answer = async (request: IncomingMessage): Promise<unknown> => {
      const { method = "", url = "" } = request;
      asked.push(`${method} ${url}`);
      const body = JSON.parse((await text(request)) || "{}");
      const [, id] = /^PUT \/bi\/api\/card\/(\d+)$/.exec(`${method} ${url}`) ?? [];
      if (id) return cards.set(Number(id), body) && {};
      switch (`${method} ${url}`) {
        case "GET /bi/api/database":
          return { data: [{ id: 3, name: "docmirror" }], total: 1 };
        case "GET /bi/api/collection":
          return [{ id: "root", name: "Our analytics" }, ...collections];
        case "POST /bi/api/collection":
          collections.push({ id: 7, ...body });
          return collections[0];
        case "GET /bi/api/collection/7/items?models=card":
          return { data: [...cards].map(([id, { name }]) => ({ id, name, model: "card" })) };
        case "POST /bi/api/card":
          return cards.set(cards.size + 1, body) && {};
        case "POST /bi/api/database/3/sync_schema":
          return isAdmin ? { status: "ok" } : syncStatus;
        default:
          return undefined;
      }
    };
    const server = createServer(async (request, response) => {
      const isKnown = request.headers["x-api-key"] === KEY;
      const reply = isKnown ? await answer(request) : "Unauthenticated";
      const refused = typeof reply === "number" ? reply : null;
      response.writeHead(isKnown ? (refused ?? (reply === undefined ? 404 : 200)) : 401);
      response.end(refused === null ? JSON.stringify(reply ?? "Not found.") : "You don't have permissions.");
    });
    const url = new URL("/bi", await listenOnLoopback(server)).href;
    const close = async () => void (await new Promise((done) => server.close(done)));
    return { url, cards, asked, [Symbol.asyncDispose]: close };
  }

  it("adds every question with its variables, and replaces it the next time", async () => {
    await using metabase = await startMetabase();
    const environment = { METABASE_URL: metabase.url, METABASE_API_KEY: KEY };
    const first = await run(environment);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout.match(/^added: /gm)).toHaveLength(questions.length);
    const added = structuredClone([...metabase.cards.values()]);
    expect(added.map(({ name }) => name)).toEqual(questions.map(({ title }) => title));
    const card = added.find(({ name }) => name === "Builds by day");
    expect(card).toMatchObject({
      display: "bar",
      collection_id: 7,
      visualization_settings: {
        "graph.dimensions": ["day"],
        "graph.metrics": ["succeeded", "failed", "unfinished", "cancelled"],
        "stackable.stack_type": "stacked",
      },
      dataset_query: {
        type: "native",
        database: 3,
        native: {
          query: questions.find(({ file }) => file === "builds-by-day.sql")?.sql,
          "template-tags": {
            since: { name: "since", "display-name": "since", type: "date", required: false },
            until: { type: "date" },
          },
        },
      },
    });
    const second = await run(environment);
    expect(second.stdout.match(/^replaced: /gm)).toHaveLength(questions.length);
    expect([...metabase.cards.values()]).toEqual(added);
    expect(metabase.asked.at(-1)).toBe("POST /bi/api/database/3/sync_schema");
  });

  it("says that a key may not make Metabase read the tables again, and is done", {
    tags: ["long"],
  }, async () => {
    await using metabase = await startMetabase({ isAdmin: false });
    const environment = { METABASE_URL: metabase.url, METABASE_API_KEY: KEY };
    const { code, stdout, stderr } = await run(environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout.match(/^added: /gm)).toHaveLength(questions.length);
    expect(stdout).toMatch(/The questions are in place\. .* use a key of the group Administrators, or .*\n$/);
    await using broken = await startMetabase({ isAdmin: false, syncStatus: 500 });
    const failed = await run({ ...environment, METABASE_URL: broken.url });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringContaining("sync_schema: 500") });
  });

  it("says what is wrong, never the key", { tags: ["long"] }, async () => {
    await using metabase = await startMetabase();
    const { url: METABASE_URL } = metabase;
    const wrong = [
      [{}, /METABASE_URL and METABASE_API_KEY are needed/],
      [{ METABASE_URL, METABASE_API_KEY: "wrong" }, /GET \/api\/database: 401 "Unauthenticated"/],
      [{ METABASE_URL, METABASE_API_KEY: KEY, METABASE_DATABASE: "mirror" }, /no database mirror; it has d/],
    ] as const;
    for (const [environment, words] of wrong) {
      const { code, stdout, stderr } = await run(environment);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toMatch(words);
      expect(stderr).not.toMatch(/mb_a_key|wrong/);
    }
    expect(metabase.cards.size).toBe(0);
  });
});
