import { describe, expect } from "vitest";
import { type Loading, loadingTest as test } from "../../support/loading.ts";
import { fingerprint } from "../../support/mirror-rows.ts";
import { wireBuild, wireProject } from "../../support/wire-records.ts";

const OLD = { date: "2024-05-15T11:00:00", state: "finished", success: false, error: "old" };
const NEW = { date: "2024-05-15T13:01:00", state: "triggered", error: "" };
const at = (time: string) => `2024-05-15T${time}:00.000Z`;
const stored = (time: string) => `2024-05-15 ${time}:00+00`;

async function see(loading: Loading, time: string, over: Record<string, unknown>, asked = time) {
  loading.nextRun();
  return loading.load("build", [wireBuild("1", over)], { at: at(time), askedAt: at(asked) });
}

const states = ({ sql }: Loading) => sql`
  select life, seq, to_state as "to", not_before, not_after from (
    select null as life, build_id, seq, to_state, not_before, not_after from mirror.build_transitions
    union all select life, build_id, seq, to_state, not_before, not_after from mirror.past_transitions
  ) as state where build_id = '1' order by life, seq`;
const lifeOf = async ({ sql }: Loading, id = "1") =>
  (await sql<{ life: number }[]>`select life from mirror.builds where id = ${id}`)[0]?.life;

describe("an id with another date", () => {
  test("is another build's, whose states begin anew", async ({ loading }) => {
    await see(loading, "11:10", { ...OLD, state: "building" });
    await see(loading, "12:00", OLD);
    expect(await see(loading, "13:02", NEW)).toMatchObject({ updated: 1, transitions: 1, stale: 0 });
    await see(loading, "13:05", { ...NEW, state: "finished", success: true });
    expect(await lifeOf(loading)).toBe(2);
    expect(await states(loading)).toEqual([
      { life: 1, seq: 1, to: "building", not_before: stored("11:00"), not_after: stored("11:10") },
      { life: 1, seq: 2, to: "finished", not_before: stored("11:10"), not_after: stored("12:00") },
      { life: null, seq: 1, to: "triggered", not_before: stored("13:01"), not_after: stored("13:02") },
      { life: null, seq: 2, to: "finished", not_before: stored("13:02"), not_after: stored("13:05") },
    ]);
    const [row] = await loading.sql`select first_seen_at, deleted_at from mirror.builds`;
    expect(row).toEqual({ first_seen_at: stored("13:02"), deleted_at: null });
  });

  test("was the earlier build's at the moments before", async ({ loading }) => {
    await see(loading, "11:10", { ...OLD, state: "building" });
    await see(loading, "12:00", OLD);
    await see(loading, "13:02", NEW);
    await see(loading, "13:05", { ...NEW, state: "finished" });
    const asOf = async (time: string) => {
      const rows =
        await loading.sql`select life, date::text, state, first_seen_at from mirror.builds_as_of(${at(time)})`;
      return rows.map((row) => Object.values(row).join(" "));
    };
    const [first, second] = [stored("11:10"), stored("13:02")];
    expect(await asOf("11:00")).toEqual([]);
    expect(await asOf("11:30")).toEqual([`1 2024-05-15 11:00:00 building ${first}`]);
    expect(await asOf("12:30")).toEqual([`1 2024-05-15 11:00:00 finished ${first}`]);
    expect(await asOf("13:03")).toEqual([`2 2024-05-15 13:01:00 triggered ${second}`]);
    expect(await asOf("14:00")).toEqual([`2 2024-05-15 13:01:00 finished ${second}`]);
  });

  test("is followed as that build, and an archived log was not its", async ({ loading }) => {
    await see(loading, "12:00", OLD);
    await loading.sql`
      with file as (insert into mirror.log_files (sha256, folder, path) values ('\\x00', '/logs', 'a.gz') returning id)
      insert into mirror.archived_logs (build_id, file_id, hash, error_line, removed_at)
      select '1', id, '\\x00', 'old', now() from file`;
    await loading.sql`delete from mirror.build_logs`;
    await see(loading, "13:02", { ...NEW, error: "new" });
    expect(await loading.sql`select error from mirror.build_logs`).toEqual([{ error: "new" }]);
    expect(await loading.sql`select 1 from mirror.archived_logs`).toEqual([]);
    expect(await loading.sql`select since, seen_at, run_id from sync.open_builds`).toEqual([
      { since: stored("13:01"), seen_at: stored("13:02"), run_id: 3 },
    ]);
  });

  test("keeps nothing of the earlier build where a value of it cannot be read", async ({ loading }) => {
    await see(loading, "12:00", { ...OLD, type: "html" });
    await see(loading, "13:02", { ...NEW, type: 7, success: "perhaps" });
    const [row] = await loading.sql`select type, success from mirror.builds`;
    expect(row).toEqual({ type: null, success: null });
  });

  test.for([
    ["an old reply of a cache", "13:20", "12:30"],
    ["a reply of a replica that is behind", "13:04", "13:04"],
  ] as const)("does not go back to the earlier build by %s", async ([, here, asked], { loading }) => {
    const lag = { replicaLagMs: 600_000 };
    loading.nextRun(lag);
    await see(loading, "12:00", OLD);
    await see(loading, "13:02", NEW);
    const before = await fingerprint(loading.sql);
    loading.nextRun(lag);
    const late = await loading.load("build", [wireBuild("1", OLD)], { at: at(here), askedAt: at(asked) });
    expect(late).toMatchObject({ stale: 1, transitions: 0 });
    expect(await fingerprint(loading.sql)).toEqual(before);
  });

  test("is given again within one batch", async ({ loading }) => {
    await see(loading, "12:00", OLD);
    loading.nextRun();
    const pages = [NEW, { ...NEW, state: "building" }, { ...NEW, state: "finished" }];
    await loading.loadPages(
      "build",
      pages.map((one) => [wireBuild("1", one)]),
      { at: at("13:10") },
    );
    expect(await lifeOf(loading)).toBe(2);
    expect((await states(loading)).map(({ life, to }) => [life, to])).toEqual([
      [1, "finished"],
      [null, "triggered"],
      [null, "building"],
      [null, "finished"],
    ]);
  });
});

describe("an id with the same date", () => {
  test.for([
    ["less exactly", "2024-05-15T11:00:00.900000", "2024-05-15T11:00:00"],
    ["more exactly", "2024-05-15T11:00:00", "2024-05-15T11:00:00.900000"],
    ["not at all any more", "2024-05-15T11:00:00", null],
    ["for the first time", null, "2024-05-15T11:00:00"],
  ] as const)("written %s is that of the same build", async ([, date, next], { loading }) => {
    await see(loading, "12:00", { ...OLD, date });
    await see(loading, "13:00", { ...OLD, date: next });
    expect(await lifeOf(loading)).toBe(1);
    expect(await loading.sql`select 1 from mirror.past_transitions`).toEqual([]);
  });

  test("is another build's where its project is another one that is here", async ({ loading }) => {
    await loading.load("project", [wireProject("1"), wireProject("2")]);
    const ofProject = (id: string) => ({ ...OLD, project: `/api/v1/project/${id}/` });
    await see(loading, "12:00", ofProject("1"));
    await see(loading, "12:30", ofProject("404"));
    expect(await lifeOf(loading)).toBe(1);
    await see(loading, "13:00", ofProject("1"));
    await see(loading, "13:30", ofProject("2"));
    expect(await lifeOf(loading)).toBe(2);
  });
});

describe("dates that move by the hours of a zone", () => {
  const IDS = ["1", "2", "3", "4", "5"];
  const builds = (hours: (id: string) => number) =>
    IDS.map((id) => {
      const hour = String(10 - hours(id)).padStart(2, "0");
      return wireBuild(id, { ...OLD, date: `2024-05-15T${hour}:0${id}:00.123456` });
    });
  const load = (
    loading: Loading,
    time: string,
    hours: (id: string) => number,
    more: readonly unknown[] = [],
  ) => {
    loading.nextRun();
    return loading.load("build", [...builds(hours), ...more], { at: at(time) });
  };
  const others = async ({ sql }: Loading) =>
    (await sql<{ id: string }[]>`select id from mirror.builds where life > 1 order by id`).map(
      ({ id }) => id,
    );

  test("with those of most others are those of the same builds", async ({ loading }) => {
    await load(loading, "12:00", () => 0);
    await load(loading, "13:00", (id) => (id < "4" ? 5 : id === "4" ? 4 : 0));
    expect(await others(loading)).toEqual([]);
  });

  test("while the others stay are those of another build", async ({ loading }) => {
    await load(loading, "12:00", () => 0);
    await load(loading, "13:00", (id) => (id < "3" ? 5 : 0));
    expect(await others(loading)).toEqual(["1", "2"]);
  });

  test("are so record by record too, where Postgres refuses one of the batch", async ({ loading }) => {
    await load(loading, "12:00", () => 0);
    const refused = wireBuild("9", { ...OLD, date: "2024-05-15T09:00:00", type: "x".repeat(10) });
    await loading.sql`alter table mirror.builds add constraint short check (length(type) < 9) not valid`;
    expect(await load(loading, "13:00", () => 5, [refused])).toMatchObject({ quarantined: 1, updated: 5 });
    expect(await others(loading)).toEqual([]);
  });

  test("by other amounts are those of other builds", async ({ loading }) => {
    await load(loading, "12:00", () => 0);
    loading.nextRun();
    const given = IDS.map((id, n) => wireBuild(id, { ...OLD, date: `2024-05-15T12:${n}7:0${id}` }));
    await loading.load("build", given, { at: at("13:00") });
    expect(await others(loading)).toEqual(IDS);
  });
});
