import { describe, expect } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { repairReferences, resolveReferences } from "../../../src/mirror/run/repair-references.ts";
import { withStoreErrors } from "../../../src/store/connection/store-errors.ts";
import { createTestClient } from "../../support/client.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { type Script, type ScriptedReply, startScriptedServer } from "../../support/scripted-server.ts";
import { wireBuild, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const DAY_MS = 86_400_000;
const gone: ScriptedReply = { status: 404, headers: { "content-type": "text/html" }, body: "" };

/** Repairs once against a service that answers as scripted; tells what was asked for. */
async function repair({ sql, loader }: Loading, script: Script, { clock = createFakeClock() } = {}) {
  await using server = await startScriptedServer(script);
  await using client = createTestClient(server.url, { retries: 0, clock });
  const { signal } = new AbortController();
  const run = { sql, client, loader, clock, log: silentLog, patience: withStoreErrors, signal };
  const counts = await repairReferences(run);
  return { ...counts, asked: server.requests.map(({ path }) => path.replace("?format=json", "")).sort() };
}

const statuses = ({ sql }: Loading) => sql`
  select record_id, status, checked_at is not null as checked from mirror.unresolved_references order by record_id`;

const BOTH_GONE = ["8", "9"].map((record_id) => ({ record_id, status: "gone", checked: true }));

describe("a reference that dangles", () => {
  test("is asked for by its detail once for all that name it, and stored", async ({ loading }) => {
    const bySlug = wireBuild("7", { project: "/api/v1/project/some%20slug/" });
    await loading.load("build", [wireBuild("8"), wireBuild("9"), bySlug]);
    const result = await repair(loading, (_request, url) => ({
      body: url.pathname.endsWith("/1/") ? wireProject("1") : wireProject("2", { slug: "some slug" }),
    }));
    const asked = ["/api/v1/project/1/", "/api/v1/project/some%20slug/"];
    expect(result).toEqual({ resolved: 3, unresolved: 0, unsettled: 0, asked });
    expect(await loading.sql`select id, project_id from mirror.builds order by id`).toEqual([
      { id: "7", project_id: "2" },
      { id: "8", project_id: "1" },
      { id: "9", project_id: "1" },
    ]);
    expect(await loading.sql`select id, source, listed from mirror.projects order by id`).toEqual([
      { id: "1", source: "detail", listed: false },
      { id: "2", source: "detail", listed: false },
    ]);
  });

  test("and is gone upstream is not asked for again for a week, then it is", async ({ loading }) => {
    const clock = createFakeClock();
    await loading.load("build", [wireBuild("8"), wireBuild("9")]);
    const asked = ["/api/v1/project/1/"];
    expect(await repair(loading, [gone], { clock })).toMatchObject({ unresolved: 2, asked });
    expect(await statuses(loading)).toEqual(BOTH_GONE);
    await clock.sleep(7 * DAY_MS - 1000);
    expect(await repair(loading, [gone], { clock })).toMatchObject({ asked: [] });
    await clock.sleep(1001);
    const again = await repair(loading, [{ body: wireProject("1") }], { clock });
    expect(again).toEqual({ resolved: 2, unresolved: 0, unsettled: 0, asked });
  });

  test("and is gone stays so for a week for new and changed records that name it", async ({ loading }) => {
    const clock = createFakeClock();
    await loading.load("build", [wireBuild("8")]);
    await repair(loading, [gone], { clock });
    await clock.sleep(DAY_MS);
    await loading.load("build", [wireBuild("8", { state: "finished" })]);
    expect(await repair(loading, [gone], { clock })).toMatchObject({ asked: [] });
    await loading.load("build", [wireBuild("9")]);
    expect(await repair(loading, [gone], { clock })).toMatchObject({ asked: [] });
    expect(await statuses(loading)).toEqual(BOTH_GONE);
    await clock.sleep(6 * DAY_MS + 1);
    expect(await repair(loading, [gone], { clock })).toMatchObject({ asked: ["/api/v1/project/1/"] });
  });

  test("and is gone finds its record at once when that comes by a list", async ({ loading }) => {
    await loading.load("build", [wireBuild("8")]);
    await repair(loading, [gone]);
    await loading.load("project", [wireProject("1")]);
    expect(await repair(loading, [gone])).toEqual({ resolved: 1, unresolved: 0, unsettled: 0, asked: [] });
  });

  test("and names a version by a project's slug, which a list answers, is gone", async ({ loading }) => {
    await loading.load("build", [wireBuild("8", { project: null, version: "/api/v1/version/some-slug/" })]);
    await repair(loading, [{ body: { meta: { next: null }, objects: [] } }]);
    expect(await statuses(loading)).toMatchObject([{ status: "gone" }]);
  });

  const NO_ANSWERS: [string, ScriptedReply][] = [
    ["an error page with status 200", { ...gone, status: 200, body: "<html>Sorry</html>" }],
    ["a refusal", { status: 403, body: {} }],
    ["an error of the server", { status: 500, body: {} }],
    ["a request to wait", { status: 429, body: {} }],
    ["a cut connection", { instead: "hang up" }],
  ];

  test("stays pending behind what is no answer about it", async ({ loading }) => {
    await loading.load("build", [wireBuild("8")]);
    for (const [what, reply] of NO_ANSWERS) {
      const counts = { resolved: 0, unresolved: 1, unsettled: 1 };
      expect(await repair(loading, [reply]), what).toMatchObject(counts);
      const pending = [{ record_id: "8", status: "pending", checked: false }];
      expect(await statuses(loading), what).toEqual(pending);
    }
    expect(await repair(loading, [{ body: wireProject("1") }])).toMatchObject({ resolved: 1 });
  });

  test("waits when the host is lost, yet is joined to what is here", async ({ loading }) => {
    await loading.load("build", [wireBuild("8"), wireBuild("9", { project: "/api/v1/project/2/" })]);
    await loading.load("project", [wireProject("1")]);
    await using server = await startScriptedServer([{ status: 429, headers: { "retry-after": "7200" } }]);
    await using client = createTestClient(server.url);
    await client.fetchJson("/api/v1/", { parse: () => null }).catch(() => {});
    const { sql, loader } = loading;
    const parts = { sql, client, loader, clock: createFakeClock(), log: silentLog };
    const options = { ...parts, patience: withStoreErrors, signal: new AbortController().signal };
    expect(await repairReferences(options)).toEqual({ resolved: 1, unresolved: 1, unsettled: 1 });
    expect(server.requests).toHaveLength(1);
  });

  test("and was found gone on a clock that stood ahead is asked for again", async ({ loading }) => {
    await loading.load("build", [wireBuild("8")]);
    await repair(loading, [gone], { clock: createFakeClock({ startAt: "2036-05-15T12:00:00Z" }) });
    expect(await repair(loading, [{ body: wireProject("1") }])).toMatchObject({ resolved: 1 });
  });
});

describe("many references that dangle", () => {
  const users = (count: number) => Array.from({ length: count }, (_, id) => `/api/v1/user/${id}/`);

  test("are asked for 2,000 a run, also those that a clock ten years ahead asked for, the others in the next", {
    tags: ["long"],
  }, async ({ loading }) => {
    await loading.load("project", [wireProject("1", { users: users(2100) })]);
    const clock = createFakeClock();
    await loading.sql`update mirror.unresolved_references set asked_at = ${clock.now().toISOString()}`;
    await loading.sql`
      update mirror.unresolved_references set asked_at = '2036-05-15T12:00:00Z' where target_key = '2099'`;
    const { asked } = await repair(loading, [gone], { clock });
    expect(asked).toHaveLength(2000);
    expect(asked).toContain("/api/v1/user/2099/");
    for (const left of [100, 0]) expect((await repair(loading, [gone], { clock })).asked).toHaveLength(left);
  });

  test("are asked for though others always answer 504, which come last then", { tags: ["long"] }, async ({
    loading,
  }) => {
    await loading.load("project", [wireProject("1", { users: users(140) })]);
    const poison: Script = (_request, { pathname }) => {
      if (pathname === "/api/v1/") return {};
      const id = pathname.split("/")[4] ?? "";
      return Number(id) < 50 ? { status: 504, body: "" } : { body: wireUser(id) };
    };
    expect(await repair(loading, poison)).toMatchObject({ resolved: 90, unresolved: 50, unsettled: 50 });
    await loading.load("project", [wireProject("2", { users: ["/api/v1/user/999/"] })]);
    const [next] = await loading.sql`
      select target_key from mirror.unresolved_references order by asked_at nulls first limit 1`;
    expect(next).toEqual({ target_key: "999" });
  });
});

const unresolved = ({ sql }: Loading) => sql`
  select resource, record_id, field, position, uri, status, target_key
  from mirror.unresolved_references order by resource, record_id, field, position`;

async function buildKeys({ sql }: Loading) {
  const [row] = await sql`select project_id, version_id from mirror.builds where id = '9'`;
  return row;
}

describe("a reference", () => {
  test("by id or slug, with its closing slash, without it, or absolute, finds its record when that comes", async ({
    loading,
  }) => {
    const keys = ["project/1/", "project/1", "project/project-1/", "project/project-1"];
    const uris = [...keys.map((key) => `/api/v1/${key}`), "http://service.invalid/api/v1/project/1/"];
    await loading.load(
      "build",
      uris.map((project, id) => wireBuild(String(id), { project })),
    );
    const waits = { field: "project", status: "pending" };
    expect(await unresolved(loading)).toMatchObject(uris.map((uri) => ({ ...waits, uri })));
    await loading.load("project", [wireProject("1")]);
    expect(await resolveReferences(loading.sql)).toBe(uris.length);
    const found = await loading.sql`select distinct project_id, version_id from mirror.builds`;
    expect([...found]).toEqual([{ project_id: "1", version_id: null }]);
    expect(await unresolved(loading)).toEqual([]);
  });

  test("by a number is an id, whatever project has that number for its slug", async ({ loading }) => {
    await loading.load("project", [wireProject("5", { slug: "42" })]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/42/" })]);
    expect(await resolveReferences(loading.sql)).toBe(0);
    await loading.load("project", [wireProject("42")]);
    expect(await resolveReferences(loading.sql)).toBe(1);
    expect(await buildKeys(loading)).toMatchObject({ project_id: "42" });
  });

  test.for([
    ["as it stands in the record", "/api/v1/user/jane/", "/api/v1/user/jane/"],
    ["without its slash", "/api/v1/user/jane", "/api/v1/user/jane/"],
    ["below a prefix", "/docs/api/v1/user/jane/", "/docs/api/v1/user/jane/"],
    ["in percent form", "/api/v1/user/j%C3%A4n/", "/api/v1/user/j%C3%A4n/"],
  ] as const)("by the resource_uri of a record, which has a name for its id, finds it: %s", async ([
    _,
    uri,
    own,
  ], { loading }) => {
    await loading.load("user", [wireUser("5", { resource_uri: own }), wireUser("6")]);
    const front = uri.startsWith("/docs") ? "/docs" : "";
    await loading.load("project", [
      wireProject("1", { users: [uri], resource_uri: `${front}/api/v1/project/1/` }),
    ]);
    expect(await repair(loading, [gone])).toMatchObject({ resolved: 1, unresolved: 0, asked: [] });
    expect(await loading.sql`select user_id from mirror.project_users`).toEqual([{ user_id: "5" }]);
  });

  test("by the resource_uri of a record that is not here finds it by that detail", async ({ loading }) => {
    await loading.load("build", [
      wireBuild("8", { version: "/api/v1/version/docs-latest/", project: "/api/v1/project/1/" }),
    ]);
    const version = wireVersion("11", wireProject("1"), { resource_uri: "/api/v1/version/docs-latest/" });
    const { unresolved } = await repair(loading, (_request, url) =>
      url.pathname.includes("/version/") ? { body: version } : { body: wireProject("1") },
    );
    expect(unresolved).toBe(0);
    expect(await loading.sql`select version_id from mirror.builds`).toEqual([{ version_id: "11" }]);
  });

  test("by a slug that two projects have means the one that still exists", async ({ loading }) => {
    await loading.load("project", [wireProject("1", { slug: "twice" }), wireProject("2", { slug: "twice" })]);
    await loading.sql`update mirror.projects set deleted_at = now() where id = '1'`;
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/twice/" })]);
    await resolveReferences(loading.sql);
    expect(await buildKeys(loading)).toMatchObject({ project_id: "2" });
  });

  const ODD = [
    ["http://elsewhere.example.org/api/v1/project/1/", "foreign"],
    ["/somewhere/else/", "foreign"],
    ["/api/v1/user/1/", "malformed"],
    ["nonsense", "malformed"],
    ["", "malformed"],
  ] as const;

  test("that is foreign or malformed never waits for a record", async ({ loading }) => {
    await loading.load("user", [wireUser("1")]);
    await loading.load("project", [wireProject("1")]);
    await loading.load(
      "build",
      ODD.map(([project], id) => wireBuild(String(id), { project })),
    );
    expect(await resolveReferences(loading.sql)).toBe(0);
    const expected = ODD.map(([uri, status]) => ({ uri, status, target_key: null }));
    expect(await unresolved(loading)).toMatchObject(expected);
  });

  test("that changes replaces its unresolved row, one that is gone takes it", async ({ loading }) => {
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/1/" })]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/2/" })]);
    expect(await unresolved(loading)).toMatchObject([{ uri: "/api/v1/project/2/" }]);
    await loading.load("build", [wireBuild("9", { project: null })]);
    expect(await unresolved(loading)).toEqual([]);
  });

  test("that pointed to a record and now to one that is not here has no key", async ({ loading }) => {
    await loading.load("project", [wireProject("1")]);
    await loading.load("build", [wireBuild("9")]);
    await loading.load("build", [wireBuild("9", { project: "/api/v1/project/2/" })]);
    expect(await buildKeys(loading)).toMatchObject({ project_id: null });
  });
});

test("administrators keep their places, each resolved by itself", async ({ loading }) => {
  await loading.load("user", [wireUser("1")]);
  const users = ["/api/v1/user/2/", "/api/v1/user/1/", "what?", "/api/v1/user/3/"];
  await loading.load("project", [wireProject("1", { users })]);
  const [waits, malformed] = [{ status: "pending" }, { status: "malformed" }];
  expect(await unresolved(loading)).toMatchObject([
    { position: 0, ...waits },
    { position: 2, ...malformed },
    { position: 3, ...waits },
  ]);
  await loading.load("user", [wireUser("3")]);
  expect(await resolveReferences(loading.sql)).toBe(1);
  expect(
    await loading.sql`select position, user_uri, user_id from mirror.project_users order by position`,
  ).toEqual(
    users.map((user_uri, position) => ({ position, user_uri, user_id: [null, "1", null, "3"][position] })),
  );
});

test("a version that names its project by URI waits for it too", async ({ loading }) => {
  await loading.load("version", [wireVersion("7", "/api/v1/project/1/")]);
  await loading.load("project", [wireProject("1")]);
  expect(await resolveReferences(loading.sql)).toBe(1);
  const expected = [{ project_id: "1", extra: { values: { project: "/api/v1/project/1/" } } }];
  expect(await loading.sql`select project_id, extra from mirror.versions`).toEqual(expected);
});

test("resolving again writes nothing", async ({ loading }) => {
  await loading.load("build", [wireBuild("9"), wireBuild("8", { project: "/api/v1/project/2/" })]);
  await loading.load("project", [wireProject("1")]);
  await resolveReferences(loading.sql);
  const before = await fingerprint(loading.sql);
  expect(await resolveReferences(loading.sql)).toBe(0);
  expect(await fingerprint(loading.sql)).toEqual(before);
});
