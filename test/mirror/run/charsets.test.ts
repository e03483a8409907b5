import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { QUIET } from "../../../src/simulate/settings.ts";
import { type QuickWorld, startQuickWorld } from "../../support/quick-world.ts";

type Change = (json: string) => { body: Buffer; type: string };

const JSON_TYPE = "application/json";
/** The names of the first three users, as JSON. */
const NAMES = ["Andr\u00e9", "\u20ac 5", "\ufffd sent"];

let quick: QuickWorld;
let change: Change | null = null;

beforeAll(async () => {
  quick = await startQuickWorld(
    { users: 6, projects: 2, versions: 2, files: 0, builds: 12, rates: QUIET, stuckShare: 0 },
    async (request, next) => {
      const reply = await next();
      const { pathname } = new URL(request.url);
      const isUsers = pathname === "/api/v1/user/";
      if (change === null || reply.status !== 200 || !isUsers) return reply;
      const page = (await reply.json()) as { objects: { first_name: string }[] };
      for (const [place, name] of NAMES.entries())
        Object.assign(page.objects[place] ?? {}, { first_name: name });
      const { body, type } = change(JSON.stringify(page));
      return new Response(new Uint8Array(body), { headers: { "content-type": type } });
    },
  );
});
afterAll(() => quick[Symbol.asyncDispose]());

async function night(as: Change) {
  change = as;
  quick.world.advance(86_400_000);
  const said: { resource: string; id: string }[] = [];
  const keep = (facts: unknown, message?: string) => {
    if (message?.startsWith("a record came with bytes")) said.push(facts as (typeof said)[number]);
  };
  const log = Object.assign(Object.create(silentLog), { warn: keep, child: () => log });
  const { summary } = await quick.sync({ kind: "full", resources: ["user"], log });
  const rows = await quick.sql<{ id: string; first_name: string }[]>`
    select id, first_name from mirror.users where first_name ~ '^(Andr|\u20ac|\ufffd)'
    order by array_position(array['A', '\u20ac', '\ufffd'], left(first_name, 1))`;
  return { summary, said, rows, names: rows.map((row) => row.first_name) };
}

/** JSON of bytes for each character, with escapes for those that have none. */
const latin = (json: string) =>
  Buffer.from(
    json.replace(/[^\0-\xff]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`),
    "latin1",
  );

describe("a reply", () => {
  test.each<[string, Change]>([
    ["iso-8859-1", (json) => ({ body: latin(json), type: `${JSON_TYPE}; charset=iso-8859-1` })],
    ["utf-16le", (json) => ({ body: Buffer.from(json, "utf16le"), type: `${JSON_TYPE}; charset=utf-16le` })],
    ["utf-8 with a byte order mark", (json) => ({ body: Buffer.from(`\ufeff${json}`), type: JSON_TYPE })],
  ])("in a declared charset is stored as it was written: %s", async (_, as) => {
    const { summary, names } = await night(as);
    expect(names).toEqual(NAMES);
    expect(summary.status).toBe("succeeded");
    expect(summary).not.toHaveProperty("damaged");
    expect(summary).not.toHaveProperty("warnings");
  });

  test("in a charset that nobody knows is read as UTF-8, and the run says so once", async () => {
    const { summary, names } = await night((json) => ({
      body: Buffer.from(json),
      type: `${JSON_TYPE}; charset=klingon`,
    }));
    expect(names).toEqual(NAMES);
    expect(summary.warnings).toEqual([
      "the service declares the charset 'klingon', which nobody knows; its replies are read as UTF-8",
    ]);
  });

  test("with bytes that do not fit is stored with U+FFFD, counted and named, in each night that brings it", async () => {
    const as: Change = (json) => ({ body: latin(json), type: JSON_TYPE });
    for (let count = 1; count <= 2; count++) {
      const { summary, said, rows, names } = await night(as);
      expect(names).toEqual(["Andr\ufffd", ...NAMES.slice(1)]);
      const id = rows[0]?.id;
      expect(said).toEqual([{ resource: "user", id }]);
      expect(summary).toMatchObject({ status: "succeeded", damaged: 1 });
      expect(summary.warnings).toEqual([
        `bytes that do not fit the charset were replaced by U+FFFD in user ${id}; the log names each record`,
      ]);
    }
    const { summary, names } = await night((json) => ({ body: Buffer.from(json), type: JSON_TYPE }));
    expect(names).toEqual(NAMES);
    expect(summary).not.toHaveProperty("damaged");
  });
});
