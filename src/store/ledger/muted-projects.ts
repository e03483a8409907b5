import type { AnySql, Sql } from "../connection/sql.ts";

/** A project of which nothing is noted for a while. */
export interface MutedProject {
  project_slug: string;
  until: string;
}

/** Notes nothing of a project for so long, from now on. Another wait replaces one before. */
export async function muteProject(sql: Sql, slug: string, forMs: number): Promise<void> {
  await sql`
    insert into sync.muted_projects (project_slug, until) values (${slug}, now() + ${forMs}::float8 * interval '1 ms')
    on conflict (project_slug) do update set until = excluded.until, muted_at = now()`;
}

/** False where it was not muted. */
export async function unmuteProject(sql: Sql, slug: string): Promise<boolean> {
  const { count } = await sql`delete from sync.muted_projects where project_slug = ${slug} and until > now()`;
  return count > 0;
}

export async function listMutedProjects(sql: AnySql): Promise<MutedProject[]> {
  return sql<MutedProject[]>`
    select project_slug, until from sync.muted_projects where until > now() order by until, project_slug`;
}
