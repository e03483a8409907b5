import { createNearest, nearestNames } from "../base/config/nearest-names.ts";
import { ConfigError } from "../base/errors.ts";
import type { AnySql } from "../store/connection/connect.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { RELATIONS, type Relation } from "./dictionary.ts";
import type { AnswerFilters } from "./question.ts";

const FETCHED_ROWS = 1000;

/** The relation of that name. Throws ConfigError that names the nearest ones. */
export function parseRelation(name: string): Relation {
  const relation = RELATIONS.find((known) => known === name.trim().toLowerCase());
  if (relation !== undefined) return relation;
  throw new ConfigError(`there is no report named ${name}${didYouMean(nearestNames(name, RELATIONS))}`, {
    hint: "`docmirror report` lists all reports",
  });
}

/** The names of each kind; $1 is the project, where one is given. */
const NAMES = {
  project: "select project_slug as name from report.dim_projects where $1::text is null or true",
  version: `
    select distinct version_slug as name from report.dim_versions
    where $1::text is null or version_id = '-1'
       or project_id in (select project_id from report.dim_projects where project_slug = $1)`,
  type: "select type as name from report.success_rate_by_type where $1::text is null or true",
} as const;

/**
 * Checks that the mirror has the project, version and type that filters name, because an empty table would
 * look like an answer. Throws ConfigError that names the nearest ones.
 */
export async function assertNamesKnown(sql: AnySql, filters: AnswerFilters): Promise<void> {
  const project = filters.project ?? null;
  for (const kind of ["project", "version", "type"] as const) {
    const name = filters[kind];
    if (name === undefined) continue;
    await withStoreErrors(`look up the ${kind}`, async () => {
      const known = await sql.unsafe(`select from (${NAMES[kind]}) as known where name = $2 limit 1`, [
        project,
        name,
      ]);
      if (known.length > 0) return;
      const nearest = createNearest(name);
      const names = sql.unsafe<{ name: string }[]>(NAMES[kind], [project]).cursor(FETCHED_ROWS);
      for await (const rows of names) for (const row of rows) nearest.offer(row.name);
      const of = kind === "version" && project !== null ? ` of the project ${project}` : "";
      throw new ConfigError(`the mirror has no ${kind} ${name}${of}${didYouMean(nearest.names())}`, {
        hint: HINTS[kind],
      });
    });
  }
}

const HINTS = {
  project: "`docmirror report dim_projects` lists all projects",
  version: "`docmirror report dim_versions` lists all versions",
  type: "`docmirror report success_rate_by_type` lists all types",
};

function didYouMean(names: readonly string[]): string {
  return names.length === 0 ? "" : `; did you mean ${names.join(" or ")}?`;
}
