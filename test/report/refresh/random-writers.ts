/**
 * What writers do to a small mirror, by chance, a transaction each: a first sync whose lists come side by side, so that records come
 * before those that they name; rounds of the watch; a prune of logs; the deletions of a night, and what people do by hand.
 */
import type { Random } from "../../../src/simulate/random.ts";
import type { Sql } from "../../../src/store/connection/sql.ts";
import { type InsertedRow, insertRows } from "../insert-rows.ts";

/** Writes over the connection of a writer. The caller begins and commits. */
export type Work = (sql: Sql) => Promise<unknown>;

const SEEN_AT = "2025-03-01 00:00Z";
const RECORD = { first_seen_at: SEEN_AT, changed_at: SEEN_AT };
/** Some tie, and some lie outside of the calendar. */
const DATES = [
  ...["2025-02-03 04:05", "2025-02-03 04:05", "2025-02-10 10:00", "2025-02-28 23:30"],
  ...["1995-01-01 00:00", "2031-07-07 07:07", null],
];
const ERRORS = ["Error: disk 7 is gone", "fatal: repository not found", "nothing to see", ""] as const;

export function createRandomWriters(random: Random) {
  let made = 0;
  const make = (count: number) =>
    Array.from({ length: count }, () => {
      made += 1;
      return String(made);
    });
  /** The records of the service, and those that are stored. */
  const projects = make(6);
  const versions = make(10).map((id) => ({ id, project: random.chance(0.9) ? anyOf(projects) : null }));
  const builds = make(24).map(newBuild);
  const stored = { project: new Set<string>(), version: new Set<string>(), build: new Set<string>() };

  function anyOf(ids: Iterable<string>): string | null {
    const all = [...ids];
    return all[random.int(all.length)] ?? null;
  }

  function newBuild(id: string) {
    const version = versions[random.int(versions.length)];
    return { id, version: version?.id ?? null, project: version?.project ?? null };
  }

  const known = (resource: "project" | "version", id: string | null) =>
    id !== null && stored[resource].has(id) ? id : null;

  const insertProjects = (ids: readonly string[]): Work => {
    const rows = ids.map((id) => ({ ...RECORD, ...named(id), id, source: "list", listed: true }));
    return (sql) => {
      for (const id of ids) stored.project.add(id);
      return insertRows(sql, "mirror.projects", rows.map(hashed));
    };
  };

  const insertVersions =
    (page: typeof versions): Work =>
    (sql) => {
      const rows = page.map(({ id, project }) => ({
        ...RECORD,
        id,
        slug: `v${random.int(3)}`,
        project_id: known("project", project),
      }));
      for (const { id } of page) stored.version.add(id);
      return insertRows(sql, "mirror.versions", rows.map(hashed));
    };

  const insertBuilds =
    (page: typeof builds): Work =>
    async (sql) => {
      const rows = page.map(({ id, project, version }) => ({
        ...RECORD,
        id,
        project_id: known("project", project),
        version_id: known("version", version),
        type: random.pick(["html", "html", "pdf"]),
        ...dated(),
        ...stateOf(),
      }));
      for (const { id } of page) stored.build.add(id);
      await insertRows(sql, "mirror.builds", rows.map(hashed));
      const open = rows.filter(({ state }) => state !== "finished").map(({ id }) => id);
      await insertRows(
        sql,
        "sync.open_builds",
        open.map((id) => ({ build_id: id, since: SEEN_AT, seen_at: SEEN_AT, run_id: 1 })),
      );
      await insertRows(sql, "mirror.build_transitions", rows.map(transition));
      await insertRows(sql, "mirror.build_logs", rows.filter(({ success }) => success === false).map(log));
    };

  const hashed = <Row extends InsertedRow>(row: Row) => ({
    ...row,
    record_hash: `\\x${random.int(256).toString(16).padStart(2, "0")}`,
  });
  const named = (id: string) => ({
    slug: `project-${id}-${random.int(3)}`,
    name: `Project ${id}`,
    default_version: random.chance(0.5) ? `v${random.int(3)}` : null,
  });
  const dated = () => ({ date: DATES[random.int(DATES.length)] ?? null });
  const stateOf = () =>
    random.chance(0.8)
      ? { state: "finished", success: random.chance(0.5) }
      : { state: random.pick(["triggered", "building", "cloning"]), success: null };
  const transition = ({ id, state }: { id: string; state: string }) => ({
    build_id: id,
    seq: 1,
    to_state: state,
    not_before: "2025-02-28 00:00Z",
    not_after: SEEN_AT,
    run_id: 1,
  });
  const log = ({ id }: { id: string }) => ({ build_id: id, error: random.pick(ERRORS) });

  /** What the loader does once a record has come that others name. */
  const resolve: Work = async (sql) => {
    for (const { id, project } of versions)
      if (stored.version.has(id) && known("project", project))
        await sql`update mirror.versions set project_id = ${project} where id = ${id} and project_id is null`;
    for (const { id, project, version } of builds)
      if (stored.build.has(id))
        await sql`
          update mirror.builds set project_id = coalesce(project_id, ${known("project", project)}),
            version_id = coalesce(version_id, ${known("version", version)})
          where id = ${id} and (project_id is null or version_id is null)`;
  };

  const finish: Work = async (sql) => {
    const id = anyOf(stored.build);
    const success = random.chance(0.5);
    await sql`
      update mirror.builds set state = 'finished', success = ${success}, record_hash = '\\xff' where id = ${id}`;
    await sql`
      insert into mirror.build_transitions (build_id, seq, from_state, to_state, not_before, not_after, run_id)
      select build_id, max(seq) + 1, 'building', 'finished', '2025-03-01 01:00Z', '2025-03-01 01:01Z', 2
      from mirror.build_transitions where build_id = ${id} group by build_id`;
    await sql`delete from sync.open_builds where build_id = ${id}`;
    if (!success)
      await sql`
        insert into mirror.build_logs (build_id, error) select ${id}, ${random.pick(ERRORS)} where exists (select from mirror.builds where id = ${id})
        on conflict (build_id) do update set error = excluded.error`;
  };

  const watch: Work = async (sql) => {
    const page = make(1 + random.int(3)).map(newBuild);
    builds.push(...page);
    await insertBuilds(page)(sql);
    await finish(sql);
  };

  const rename: Work = (sql) => sql`
    update mirror.projects set ${sql({ ...named("x"), record_hash: "\\xee" })} where id = ${anyOf(stored.project)}`;
  const move: Work = (sql) => sql`
    update mirror.versions set project_id = ${anyOf(stored.project)} where id = ${anyOf(stored.version)}`;
  const redate: Work = (sql) => sql`
    update mirror.builds set ${sql({ ...dated(), record_hash: "\\xdd" })} where id in ${sql([anyOf(stored.build), anyOf(stored.build)])}`;
  /** Marks, or takes the mark away. */
  const markDeleted: Work = (sql) => {
    const [table, ids] = random.pick([
      ["mirror.projects", stored.project],
      ["mirror.versions", stored.version],
      ["mirror.builds", stored.build],
    ]);
    return sql`
      update ${sql(table)} set deleted_at = case when deleted_at is null then now() end where id = ${anyOf(ids)}`;
  };

  const removeVersion = async (sql: Sql, id: string | null) => {
    await sql`update mirror.builds set version_id = null where version_id = ${id}`;
    await sql`delete from mirror.versions where id = ${id}`;
    stored.version.delete(id ?? "");
  };
  /** By hand: nothing of ours deletes a row. The versions of a project go with it, or to another one. */
  const removeProject: Work = async (sql) => {
    const id = anyOf(stored.project);
    stored.project.delete(id ?? "");
    const own = await sql<{ id: string }[]>`select id from mirror.versions where project_id = ${id}`;
    for (const version of own)
      if (random.chance(0.5)) await removeVersion(sql, version.id);
      else
        await sql`update mirror.versions set project_id = ${anyOf(stored.project)} where id = ${version.id}`;
    await sql`update mirror.builds set project_id = null where project_id = ${id}`;
    await sql`delete from mirror.projects where id = ${id}`;
  };
  const removeBuild: Work = async (sql) => {
    const id = anyOf(stored.build);
    stored.build.delete(id ?? "");
    for (const table of [
      "mirror.build_transitions",
      "sync.open_builds",
      "mirror.build_logs",
      "mirror.archived_logs",
    ])
      await sql`delete from ${sql(table)} where build_id = ${id}`;
    await sql`delete from mirror.builds where id = ${id}`;
  };

  /** As `src/report/logs/prune-logs.ts` does. */
  const prune: Work = (sql) => sql`
    with gone as (
      delete from mirror.build_logs where build_id in ${sql([anyOf(stored.build), anyOf(stored.build), anyOf(stored.build)])}
      returning build_id, rollup.error_line(error, setup_error, output, setup) as error_line
    ), file as (
      insert into mirror.log_files (sha256, folder, path) values ('\\x01', 'logs', 'month')
      on conflict (sha256) do update set folder = 'logs' returning id
    )
    insert into mirror.archived_logs (build_id, file_id, hash, error_line, removed_at)
    select gone.build_id, file.id, '\\x02', gone.error_line, now() from gone, file
    on conflict (build_id) do nothing`;

  const halves = <One>(all: readonly One[]) => [all.slice(0, all.length / 2), all.slice(all.length / 2)];
  return {
    /** The pages of the lists, each list in order, and what was named before it came. */
    firstSync(): Work[] {
      const lists = [
        halves(projects).map(insertProjects),
        halves(versions).map(insertVersions),
        halves(builds).map(insertBuilds),
      ];
      const pages: Work[] = [];
      while (lists.length > 0) {
        const nth = random.int(lists.length);
        pages.push(...(lists[nth]?.splice(0, 1) ?? []));
        if (lists[nth]?.length === 0) lists.splice(nth, 1);
      }
      return [...pages, resolve];
    },
    later: (): Work =>
      random.pick([
        ...([watch, watch, finish, rename, move, redate, markDeleted] as const),
        ...([
          removeBuild,
          removeProject,
          (sql: Sql) => removeVersion(sql, anyOf(stored.version)),
          prune,
          resolve,
        ] as const),
      ]),
  };
}
