import { describe, expect } from "vitest";
import { ConfigError, NotFoundError } from "../../../src/base/errors.ts";
import { forgetUser } from "../../../src/mirror/run/forget-user.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { wireBuild, wireProject, wireUser } from "../../support/wire-records.ts";

const { signal } = new AbortController();
const jane = wireUser("1", {
  username: "jane.roe",
  first_name: "Jane",
  last_name: "Roe",
  resource_uri: "/api/v1/user/jane.roe/",
  email: "jane@example.org",
});
const other = wireUser("2", { username: "adam", first_name: "Jane", last_name: "Doe" });
const LOG = "Author: Jane Roe <jane.roe@example.org>\nkept: jane.roes, xjane.roe, Jane Doe\nby jane-old";

/** A deleted user with a former name, who stands in every place that may name one. */
async function setUpPerson(loading: Loading) {
  const { sql } = loading;
  await loading.load("user", [{ ...jane, username: "jane-old" }, other]);
  await loading.load("user", [jane, other]);
  await loading.load("project", [
    wireProject("1", { slug: "jane.roe", users: ["/api/v1/user/jane.roe/", "/api/v1/user/2/"] }),
  ]);
  await loading.load("project", [wireProject("1", { slug: "jane.roe", users: ["/api/v1/user/jane.roe/"] })]);
  await loading.load("build", [wireBuild("31", { state: "finished", success: false, error: LOG })]);
  await sql.unsafe(`
    update mirror.users set deleted_at = now() where id = '1';
    insert into sync.quarantine (run_id, resource, record_id, reason, payload, request, created_at)
      values (1, 'user', '1', 'odd', '{"username":"jane.roe"}', '', now()),
        (1, 'project', '9', 'odd', '{"users":["/api/v1/user/jane.roe/"],"slug":"jane.roe"}', '', now());
    insert into sync.notices (subject, type, data)
      values ('a', 'project.broke', '{"project":"jane.roe","error":"fatal: commit of Jane Roe, see jane.roe there"}')`);
}

/** Every row of every table that has a word in it. */
async function placesOf({ sql }: Loading, word: string) {
  const tables = await sql<{ name: string }[]>`
    select format('%I.%I', table_schema, table_name) as name from information_schema.tables
    where table_schema in ('mirror', 'sync') and table_type = 'BASE TABLE'`;
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.unsafe<{ row: string }[]>(
      `select to_jsonb(one)::text as row from ${name} as one where strpos(to_jsonb(one)::text, $1) > 0`,
      [word],
    );
    found.push(...rows.map(({ row }) => `${name} ${row}`));
  }
  return found;
}

const forget = ({ sql }: Loading, name: string, more: Partial<Parameters<typeof forgetUser>[0]> = {}) =>
  forgetUser({ sql, name, isDry: false, isForced: false, inTexts: true, signal, ...more });

describe("forgetting a user", () => {
  test.for(["jane.roe", "jane-old", "1"])("leaves no name in any table, asked for by %s", async (name, {
    loading,
  }) => {
    await setUpPerson(loading);
    const expected = {
      users: ["1"],
      shown: [],
      changes: 2,
      references: 2,
      quarantine: 2,
      notices: 1,
      logs: 1,
    };
    expect(await forget(loading, name, { isDry: true })).toEqual(expected);
    expect(await placesOf(loading, "Jane Roe")).toHaveLength(2);
    expect(await forget(loading, name)).toEqual(expected);
    for (const word of ["Jane Roe", "jane-old", "jane@example.org", "user/jane.roe"])
      expect(await placesOf(loading, word)).toEqual([]);
    // The slug of a project is none of its names, and others keep theirs.
    const left = await placesOf(loading, "jane.roe");
    expect(left.every((row) => /"(?:slug|project|target_key)": "jane.roe"|xjane.roe/.test(row))).toBe(true);
    expect(await loading.sql`select error from mirror.build_logs`).toEqual([
      {
        error:
          "Author: (forgotten) <(forgotten)@example.org>\nkept: jane.roes, xjane.roe, Jane Doe\nby (forgotten)",
      },
    ]);
    expect(await loading.sql`select id, username, first_name from mirror.users order by id`).toEqual([
      { id: "1", username: null, first_name: null },
      { id: "2", username: "adam", first_name: "Jane" },
    ]);
    expect(await loading.sql`select kind from mirror.changes where resource = 'user'`).toHaveLength(0);
    expect(await forget(loading, "1")).toMatchObject({
      changes: 0,
      references: 0,
      quarantine: 0,
      notices: 0,
      logs: 0,
    });
  });

  test("leaves the logs unread unless they are asked for", async ({ loading }) => {
    await setUpPerson(loading);
    expect(await forget(loading, "jane.roe", { inTexts: false })).toMatchObject({ logs: null });
    expect(await loading.sql`select error from mirror.build_logs`).toEqual([{ error: LOG }]);
  });

  test("is refused for one that the service still shows, and by force lasts until the next reading", async ({
    loading,
  }) => {
    await setUpPerson(loading);
    await expect(forget(loading, "adam")).rejects.toThrow(ConfigError);
    expect(await placesOf(loading, "adam")).toHaveLength(1);
    expect(await forget(loading, "adam", { isForced: true })).toMatchObject({ users: ["2"], shown: ["2"] });
    expect(await placesOf(loading, "adam")).toEqual([]);
    loading.nextRun();
    await loading.load("user", [other]);
    expect(await placesOf(loading, "adam")).not.toEqual([]);
  });

  test("names nobody where no user has the name", async ({ loading }) => {
    await setUpPerson(loading);
    await expect(forget(loading, "nobody")).rejects.toThrow(NotFoundError);
  });
});
