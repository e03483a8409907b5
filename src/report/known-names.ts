import { type SQL, sql } from "drizzle-orm";
import { createNearest, didYouMean, nearestNames } from "../base/config/nearest-names.ts";
import { ConfigError } from "../base/errors.ts";
import { type AnySql, runStatement } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { type AnswerFilters, relation } from "./ask.ts";
import { RELATIONS, type Relation } from "./dictionary.ts";

const FETCHED_ROWS = 1000;

/** The relation of that name. Throws ConfigError that names the nearest ones. */
export function parseRelation(name: string): Relation {
  const relation = RELATIONS.find((known) => known === name.trim().toLowerCase());
  if (relation !== undefined) return relation;
  throw new ConfigError(`there is no report named ${name}${didYouMean(nearestNames(name, RELATIONS))}`, {
    hint: "`docmirror report` lists all reports",
  });
}

const project = relation("dim_projects");
const version = relation("dim_versions");
const builds = relation("success_rate_by_type");

/** The relation that lists the names of each kind, and its names; of versions those of a project, where one is given. */
const KINDS: Record<"project" | "version" | "type", [lister: Relation, names: (slug?: string) => SQL]> = {
  project: ["dim_projects", () => sql`select ${project.project_slug} as name from ${project}`],
  version: [
    "dim_versions",
    (slug) => sql`select distinct ${version.version_slug} as name from ${version}
    where ${slug === undefined} or ${version.version_id} = '-1'
      or ${version.project_id} in (select ${project.project_id} from ${project} where ${project.project_slug} = ${slug ?? null})`,
  ],
  type: ["success_rate_by_type", () => sql`select ${builds.type} as name from ${builds}`],
};

/**
 * Checks that the mirror has the project, version and type that filters name, because an empty table would
 * look like an answer. Throws ConfigError that names the nearest ones.
 */
export async function assertNamesKnown(tx: AnySql, filters: AnswerFilters): Promise<void> {
  for (const kind of ["project", "version", "type"] as const) {
    const name = filters[kind];
    if (name === undefined) continue;
    await withStoreErrors(`look up the ${kind}`, async () => {
      const [lister, namesOf] = KINDS[kind];
      const names = namesOf(filters.project);
      const known = await runStatement(tx, sql`select from (${names}) as known where name = ${name} limit 1`);
      if (known.length > 0) return;
      const nearest = createNearest(name);
      const all = runStatement<{ name: string }>(tx, names).cursor(FETCHED_ROWS);
      for await (const rows of all) for (const row of rows) nearest.offer(row.name);
      const of =
        kind === "version" && filters.project !== undefined ? ` of the project ${filters.project}` : "";
      throw new ConfigError(`the mirror has no ${kind} ${name}${of}${didYouMean(nearest.names())}`, {
        hint: `\`docmirror report ${lister}\` lists all ${kind}s`,
      });
    });
  }
}
