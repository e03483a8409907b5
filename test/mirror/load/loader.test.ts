import { describe, expect } from "vitest";
import { StoreError } from "../../../src/base/errors.ts";
import { createLoader } from "../../../src/mirror/load/loader.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import type { TransactionSql } from "../../../src/store/connection/sql.ts";
import { nextLease } from "../../support/leases.ts";
import { setUpLoading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint, restoreStored } from "../../support/mirror-rows.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

/** Nested objects: from some thousand levels on Node's stack is too small to look through them. */
function nested(depth: number): unknown {
  let value: unknown = null;
  for (let level = 0; level < depth; level++) value = { in: value };
  return value;
}

/** A database of the user's own may have rules that we know nothing of. */
async function setUpRefusing(resource: Resource) {
  const loading = await setUpLoading();
  await loading.sql.unsafe(
    `alter table mirror.${resource}s add constraint no_shoes check (extra->'values'->'shoes' is null)`,
  );
  return loading;
}

describe("an id that comes twice", () => {
  const [a, b, other] = [
    wireUser("1", { first_name: "a" }),
    wireUser("1", { first_name: "b" }),
    wireUser("2"),
  ];
  test.each([
    ["on a page", [[a, other, b]]],
    ["in a batch", [[a, other], [b]]],
    ["as text and as number", [[a, other], [{ ...b, id: 1 }]]],
  ])("%s counts once, as it was seen last", async (_where, pages) => {
    await using loading = await setUpLoading();
    expect(await loading.loadPages("user", pages)).toMatchObject({ inserted: 2, quarantined: 0 });
    expect(await loading.sql`select id, first_name from mirror.users order by id`).toEqual([
      { id: "1", first_name: "b" },
      { id: "2", first_name: "Ada" },
    ]);
  });

  test("counts as it was seen last even where that one is refused: what came before it is old", async () => {
    await using loading = await setUpRefusing("user");
    await loading.load("user", [wireUser("1", { first_name: "kept" })]);
    const pages = [[a], [wireUser("1", { shoes: 1 }), other]];
    expect(await loading.loadPages("user", pages)).toMatchObject({ inserted: 1, updated: 0, quarantined: 1 });
    const [user] = await loading.sql`select first_name from mirror.users where id = '1'`;
    expect(user).toEqual({ first_name: "kept" });
  });
});

test("a run that another one has closed writes nothing more of any kind", async ({ loading }) => {
  const { sql, keys } = loading;
  const { assertHolds: assertMayWrite } = await nextLease(sql);
  const facts = { runId: 1, sourceTimezone: "Etc/UTC", baseUrl: new URL("http://service.invalid") };
  const loader = createLoader({ sql, keys, assertMayWrite, ...facts });
  const load = (records: unknown[], observedAt: string) => {
    const pages = [{ records, request: "/", observedAt: new Date(observedAt) }];
    return loader.load({ resource: "build", source: "detail", pages });
  };
  await load([wireBuild("1")], "2024-05-15T12:00:00Z");
  await nextLease(sql);
  await sql`insert into sync.missing_records values ('build', '1', 1, now(), null)`;
  const before = await fingerprint(sql);
  const at = "2024-05-15T13:00:00Z";
  const sighting = { id: "1", askedAt: at, observedAt: at, request: null };
  const late = [
    () => load([wireBuild("1", { state: "finished" }), wireBuild("2")], "2024-05-15T12:00:00Z"),
    () => loader.vanish([sighting]),
    () => loader.retire([{ ...sighting, resource: "build" }]),
  ];
  for (const write of late)
    await expect(write()).rejects.toMatchObject({ name: "LockedError", exitCode: 10 });
  expect(await fingerprint(sql)).toEqual(before);
});

describe("what is written alongside", () => {
  const rememberPage = (tx: TransactionSql) =>
    tx`insert into sync.pages values ('user', 0, '/', '\\x00', '{}', '{}', now(), 1, 1)`;

  test("is there with the page", async ({ loading }) => {
    await loading.load("user", [wireUser("1")], {
      alongside: async (tx, counts) => {
        expect(counts).toMatchObject({ inserted: 1 });
        await rememberPage(tx);
      },
    });
    expect(await loading.sql`select 1 from sync.pages`).toHaveLength(1);
  });

  test("takes the page with it when it fails, and nothing is taken for known", async ({ loading }) => {
    const failed = loading.load("user", [wireUser("1")], {
      alongside: async (tx) => {
        await rememberPage(tx);
        throw new Error("no checkpoint");
      },
    });
    await expect(failed).rejects.toThrow("no checkpoint");
    expect(await loading.sql`select 1 from mirror.users union all select 1 from sync.pages`).toHaveLength(0);
    expect(loading.keys.isNew("user", "1")).toBe(true);
    expect(loading.keys.resolve({ kind: "record", resource: "user", key: "1" })).toBeNull();
    await loading.load("project", [wireProject("1", { users: ["/api/v1/user/1/"] })]);
    await loading.load("user", [wireUser("1")]);
    expect(await loading.sql`select id from mirror.users`).toEqual([{ id: "1" }]);
  });

  test("is written once when the page has to be loaded record by record", async () => {
    await using loading = await setUpRefusing("user");
    const bad = wireUser("2", { shoes: [44] });
    await loading.load("user", [wireUser("1"), bad], {
      alongside: async (tx, counts) => {
        if (counts.quarantined === 0) return;
        await rememberPage(tx);
      },
    });
    expect(await loading.sql`select 1 from sync.pages`).toHaveLength(1);
  });

  test("a failure of Postgres comes as a StoreError that says what was being done", async ({ loading }) => {
    const failed = loading.load("user", [wireUser("1")], {
      alongside: async (tx) => void (await tx`select 1 from nowhere`),
    });
    const error = await failed.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(StoreError);
    const message = expect.stringContaining("load a page of users");
    expect(error).toMatchObject({ exitCode: 4, sqlstate: "42P01", message });
    expect(await loading.sql`select 1 from mirror.users`).toHaveLength(0);
  });
});

test("a COPY that fails is loaded record by record and ends right, nothing lost", async ({ loading }) => {
  await loading.keys.prepare([]);
  // Behind the loader's back, which takes every build for a new one since there were none.
  await loading.sql`
    insert into mirror.builds (id, state, first_seen_at, changed_at, record_hash)
    values ('3', 'triggered', '2024-05-01', '2024-05-01', '\\x00')`;
  await loading.sql`insert into mirror.build_logs (build_id) values ('3')`;
  const page = ["2", "3", "4"].map((id) => wireBuild(id, { state: "finished", output: `of ${id}` }));
  expect(await loading.load("build", page)).toMatchObject({ inserted: 2, updated: 1, quarantined: 0 });
  expect([...(await restoreStored(loading.sql, "build")).values()]).toEqual(expect.arrayContaining(page));
  expect(await loading.load("build", [...page, wireBuild("5")])).toMatchObject({ inserted: 1, unchanged: 3 });
});

describe("a record that Postgres refuses", () => {
  test("is put aside with reason and payload, and its neighbours are stored", async () => {
    await using loading = await setUpRefusing("user");
    const bad = wireUser("2", { shoes: [44] });
    const counts = await loading.load("user", [wireUser("1"), bad, wireUser("3")]);
    expect(counts).toMatchObject({ inserted: 2, quarantined: 1 });
    expect(await loading.sql`select id from mirror.users order by id`).toEqual([{ id: "1" }, { id: "3" }]);
    const aside = await loading.sql`
      select resource, record_id, reason, payload, request, resolved_at from sync.quarantine`;
    const reason = expect.stringMatching(/^could not store user 2: .*no_shoes.*\(23514\)$/);
    const where = { resource: "user", record_id: "2", request: "/api/v1/user/?page=0" };
    expect(aside).toEqual([{ ...where, reason, payload: bad, resolved_at: null }]);
  });

  test("as a change leaves the row as it was", async () => {
    await using loading = await setUpRefusing("build");
    await loading.load("build", [wireBuild("1"), wireBuild("2")]);
    const page = [wireBuild("1", { state: "finished", shoes: 1 }), wireBuild("2", { state: "finished" })];
    expect(await loading.load("build", page)).toMatchObject({ updated: 1, quarantined: 1, transitions: 1 });
    expect(await loading.sql`select id, state from mirror.builds order by id`).toEqual([
      { id: "1", state: "triggered" },
      { id: "2", state: "finished" },
    ]);
    expect(await loading.sql`select record_id from mirror.changes`).toEqual([{ record_id: "2" }]);
  });

  test("does not count as here: what refers to it waits for it", async () => {
    await using loading = await setUpRefusing("project");
    await loading.load("project", [wireProject("1", { shoes: [44] }), wireProject("2")]);
    expect(await loading.load("build", [wireBuild("9")])).toMatchObject({ inserted: 1, quarantined: 0 });
    expect(await loading.sql`select project_id from mirror.builds`).toEqual([{ project_id: null }]);
    const expected = [{ status: "pending", uri: "/api/v1/project/1/" }];
    expect(await loading.sql`select status, uri from mirror.unresolved_references`).toEqual(expected);
  });

  test("as an embedded project is kept as it was sent, and files of other projects are stored", async () => {
    await using loading = await setUpRefusing("project");
    const bad = wireProject("1", { shoes: [44] });
    const page = [wireFile("1", wireProject("2")), wireFile("2", bad), wireFile("3", wireProject("2"))];
    expect(await loading.load("file", page)).toMatchObject({ inserted: 2, quarantined: 2 });
    expect(await loading.sql`select id from mirror.files order by id`).toEqual([{ id: "1" }, { id: "3" }]);
    const aside = await loading.sql`
      select resource, record_id, payload from sync.quarantine order by resource desc`;
    expect(aside).toEqual([
      { resource: "project", record_id: "1", payload: bad },
      { resource: "file", record_id: "2", payload: page[1] },
    ]);
    // The project is no more here for the next page than it was for this one.
    const versions = [wireVersion("7", bad), wireVersion("8", wireProject("2"))];
    expect(await loading.load("version", versions)).toMatchObject({ inserted: 1 });
  });

  test("for want of rights is no fault of the record: nothing is put aside", async ({ loading }) => {
    await loading.sql.unsafe(`
      create function mirror.refuse() returns trigger language plpgsql as
        $$ begin raise exception 'not you' using errcode = case new.id when '1' then '23514' else '42501' end; end $$;
      create trigger refuse before insert on mirror.users for each row execute function mirror.refuse()`);
    const failed = loading.load("user", [wireUser("1"), wireUser("2")]);
    await expect(failed).rejects.toMatchObject({ name: "StoreError", sqlstate: "42501" });
    expect(await loading.sql`select 1 from sync.quarantine`).toHaveLength(0);
  });

  test("costs nobody else beside a record whose id has no text", async () => {
    await using loading = await setUpRefusing("user");
    const odd = { ...wireUser("2"), id: { toString: 1 } };
    const counts = await loading.load("user", [odd, wireUser("1", { shoes: 1 }), wireUser("3")]);
    expect(counts).toMatchObject({ inserted: 1, quarantined: 2 });
    const aside = await loading.sql`select record_id from sync.quarantine order by 1`;
    expect(aside).toEqual([{ record_id: "1" }, { record_id: null }]);
  });

  const DEPTHS = [490, 4000, 5000, 6000, 7000];
  test.for(DEPTHS)("or Node cannot write, nested %i deep, costs nobody else", async (depth, { loading }) => {
    const bad = { ...wireUser("2"), shoes: nested(depth) };
    const counts = await loading.load("user", [wireUser("1"), bad, wireUser("3")]);
    expect(counts.inserted + counts.quarantined).toBe(3);
    const ids = await loading.sql`
      select id, 'stored' as place from mirror.users union all select record_id, 'aside' from sync.quarantine order by 1`;
    expect(ids).toEqual([
      { id: "1", place: "stored" },
      { id: "2", place: depth > 500 ? "aside" : "stored" },
      { id: "3", place: "stored" },
    ]);
  });

  const isKeptAsText = async (shoes: unknown) => {
    await using loading = await setUpRefusing("user");
    const bad = wireUser("2", { shoes });
    expect(await loading.load("user", [wireUser("1"), bad])).toMatchObject({ inserted: 1, quarantined: 1 });
    const [row] = await loading.sql<{ payload: string }[]>`select payload from sync.quarantine`;
    expect(row?.payload).toBe(JSON.stringify(bad).slice(0, 1_000_000));
  };

  test("and that is nested too deep for JSON is kept as a text", () => isKeptAsText(nested(501)));
  test("and that is too long for JSON is kept as a text, cut where it is endless", { tags: ["long"] }, () =>
    isKeptAsText("x".repeat(50_000_001)),
  );
});

describe("hostile content", () => {
  test("U+0000 becomes U+FFFD and is counted, lone surrogates are not counted", async ({ loading }) => {
    const counts = await loading.load("user", [
      wireUser("1", { first_name: "a\u0000b\u0000", last_name: "\ud83d", "k\u0000": ["\u0000"] }),
    ]);
    expect(counts).toMatchObject({ inserted: 1, quarantined: 0, replacedNul: 3 });
    expect((await restoreStored(loading.sql, "user")).get("1")).toEqual(
      wireUser("1", { first_name: "a\uFFFDb\uFFFD", last_name: "\uFFFD", "k\uFFFD": ["\uFFFD"] }),
    );
  });

  test("ids of any kind are stored, found and changed", async ({ loading }) => {
    const ids = [..."{} \" \\ NULL null a,b {a} ' ü 0x1 1e3 -1".split(" "), " "];
    const builds = (over = {}) => ids.map((id) => wireBuild(id, over));
    await loading.load("build", builds());
    loading.nextRun();
    expect(await loading.load("build", builds())).toMatchObject({ unchanged: ids.length, inserted: 0 });
    const counts = await loading.load("build", builds({ state: "building" }));
    expect(counts).toMatchObject({ updated: ids.length, transitions: ids.length });
    const stored = await loading.sql`select id, state from mirror.builds`;
    const expected = ids.map((id) => ({ id, state: "building" }));
    expect(new Set(stored)).toEqual(new Set(expected));
  });
});

test("waiting pages of resources that others refer to go in first", async ({ loading }) => {
  const order: string[] = [];
  const load = (resource: Resource, record: unknown) =>
    loading.load(resource, [record], { alongside: async () => order.push(resource) });
  await Promise.all([
    load("file", wireFile("0", null)),
    load("build", wireBuild("1")),
    load("project", wireProject("1")),
    load("user", wireUser("1")),
  ]);
  expect(order).toEqual(["file", "user", "project", "build"]);
});

test("a record that comes again unchanged in one batch is dated as it came first", async ({ loading }) => {
  const pages = ["2024-05-15T12:00:00Z", "2024-05-15T12:00:05Z"].map((at) => ({
    records: [wireUser("1")],
    request: "/api/v1/user/",
    observedAt: new Date(at),
  }));
  await loading.loader.load({ resource: "user", source: "list", pages });
  const [user] = await loading.sql`select changed_at from mirror.users`;
  expect(user).toEqual({ changed_at: "2024-05-15 12:00:00+00" });
});
