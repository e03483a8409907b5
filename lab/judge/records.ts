import { RESOURCES, type Resource } from "../../src/resources/resources.ts";
import { withSql } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { canonicalJson } from "../../test/support/canonical-json.ts";
import { restoreStored } from "../../test/support/mirror-rows.ts";
import type { World } from "../../test/support/simulation.ts";

const CLIENT = { applicationName: "docmirror soak" };

/** The projects that lists hide: to a reader they are gone, and may come back. */
export function hiddenProjects(world: World): Set<string> {
  const all = [...world.truth().records("project")];
  return new Set(all.filter(({ listed }) => !listed).map(({ record }) => record.id));
}

function liveIds(world: World, resource: Resource): Set<string> {
  return new Set([...world.truth().records(resource)].map(({ record }) => record.id));
}

export interface Retired {
  /** The newest row of `mirror.changes` that was looked at. */
  upTo: number;
  /** How many records were marked as deleted since the last look. */
  count: number;
  /** Those among them that live. */
  wrong: string[];
}

/** Looks at every record marked as deleted since change `after`. The projects in `hidden` were gone for the service's readers. */
export async function findWrongDeletions(
  url: string,
  world: World,
  after: number,
  hidden: ReadonlySet<string>,
): Promise<Retired> {
  const rows = await withSql(
    url,
    CLIENT,
    (sql) => sql<{ id: number; resource: Resource; record: string }[]>`
    select id, resource, record_id as record from mirror.changes where kind = 'deleted' and id > ${after} order by id`,
  );
  const wrong = rows.filter(({ resource, record }) => {
    const isHidden = resource === "project" && hidden.has(record);
    return !isHidden && liveIds(world, resource).has(record);
  });
  return {
    upTo: rows.at(-1)?.id ?? after,
    count: rows.length,
    wrong: wrong.map(({ resource, record }) => `${resource} ${record} lives but was marked as deleted`),
  };
}

/** The open builds that a run says have vanished, and that live. Right only where no detail was made to answer 404. */
export async function findFalselyVanished(url: string, world: World, runId: number): Promise<string[]> {
  const rows = await withSql(
    url,
    CLIENT,
    (sql) => sql<{ id: string }[]>`
      select build_id as id from mirror.build_transitions where to_state = 'vanished' and run_id = ${runId}`,
  );
  const live = liveIds(world, "build");
  return rows.filter(({ id }) => live.has(id)).map(({ id }) => `build ${id} lives but is told as vanished`);
}

/**
 * Every difference between the mirror and a world that stands still. Of a project that was listed once and is hidden now an embedded copy
 * need not have arrived, so within versions and files only its id is compared.
 */
export async function findDifferences(url: string, world: World): Promise<string[]> {
  const hidden = hiddenProjects(world);
  const comparable = (record: object | undefined): string => {
    const { project } = (record ?? {}) as { project?: { id: string } | string };
    const isHidden = typeof project === "object" && hidden.has(project.id);
    return canonicalJson(isHidden ? { ...record, project: project.id } : record);
  };
  return await withSql(url, CLIENT, async (sql) => {
    const differences: string[] = [];
    for (const resource of RESOURCES) {
      const stored = await restoreStored(sql, resource);
      const rows = await sql.unsafe<{ id: string; isDeleted: boolean; isListed: boolean }[]>(
        `select id, deleted_at is not null as "isDeleted", ${resource === "project" ? "listed" : "true"} as "isListed"
         from mirror.${resource}s`,
      );
      const deleted = new Set(rows.flatMap(({ id, isDeleted }) => (isDeleted ? [id] : [])));
      for (const { record, listed } of world.truth().records(resource)) {
        if (!listed) continue;
        const found = stored.get(record.id);
        if (!found) differences.push(`${resource} ${record.id} is missing`);
        else if (comparable(found) !== comparable(record))
          differences.push(`${resource} ${record.id} differs`);
        if (deleted.has(record.id))
          differences.push(`${resource} ${record.id} lives but is marked as deleted`);
      }
      const live = liveIds(world, resource);
      for (const { id, isListed } of rows) {
        // A project known from copies in other records alone was in no list that it could be missed in.
        if (!live.has(id) && isListed && !deleted.has(id))
          differences.push(`${resource} ${id} is gone but not marked as deleted`);
      }
    }
    return [...differences, ...(await findLifeDifferences(sql))];
  });
}

/** Where what is told of the lives of builds does not end with what they are. */
async function findLifeDifferences(sql: Sql): Promise<string[]> {
  const moved = await sql<{ id: string; state: string; told: string | null }[]>`
    select build.id, build.state, last.to_state as told
    from mirror.builds as build
    left join lateral (
      select to_state from mirror.build_transitions where build_id = build.id order by seq desc limit 1
    ) as last on true
    where build.deleted_at is null and last.to_state is distinct from build.state`;
  const followed = await sql<{ id: string; open: boolean }[]>`
    select coalesce(build.id, open.build_id) as id, build.id is not null as open
    from (select id from mirror.builds where deleted_at is null and state is distinct from 'finished' and state is distinct from 'cancelled') as build
    full join sync.open_builds as open on open.build_id = build.id
    where build.id is null or open.build_id is null`;
  return [
    ...moved.map(({ id, state, told }) => `build ${id} is ${state}, but its life ends with ${told}`),
    ...followed.map(({ id, open }) => `build ${id} is ${open ? "open but not" : "not open but"} followed`),
  ];
}

/** How many open builds were told to be gone, and how many of these were seen again. */
export async function countVanished(url: string): Promise<{ vanished: number; returned: number }> {
  const [row] = await withSql(
    url,
    CLIENT,
    (sql) => sql<{ vanished: number; returned: number }[]>`
      select count(*) filter (where to_state = 'vanished') as vanished,
        count(*) filter (where from_state = 'vanished') as returned
      from mirror.build_transitions`,
  );
  return row ?? { vanished: 0, returned: 0 };
}
