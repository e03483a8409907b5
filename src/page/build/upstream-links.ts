import { withColon } from "../../mirror/content/page-url.ts";
import type { AnySql } from "../../store/connection/sql.ts";

/** Where a build is to be found at the mirrored service. Addresses of http and https only. */
export interface UpstreamLinks {
  /** The record of the build in the API. */
  readonly record: string | null;
  /** The documentation of its project. */
  readonly docs: string | null;
}

/** The addresses of a build and its project at the service, as far as the mirror knows them. */
export async function findUpstreamLinks(sql: AnySql, buildId: string): Promise<UpstreamLinks> {
  const [row] = await sql<
    { base_url: string | null; subdomain: string | null; absolute_url: string | null }[]
  >`
    select (select base_url from sync.service), project.subdomain, project.absolute_url
    from mirror.builds as build
    left join mirror.projects as project on project.id = build.project_id
    where build.id = ${buildId}`;
  const { base_url: baseUrl = null, subdomain = null, absolute_url: path = null } = row ?? {};
  return {
    record:
      baseUrl === null ? null : webAddress(`${baseUrl}/api/v1/build/${encodeURIComponent(buildId)}/`, null),
    docs: webAddress(subdomain, null) ?? (baseUrl === null ? null : webAddress(path, `${baseUrl}/`)),
  };
}

/** An address that a page may link to; null for what is none, or leads to another place than the web. */
export function webAddress(text: string | null, base: string | null): string | null {
  if (text === null || text.trim() === "") return null;
  const address = withColon(text);
  if (!URL.canParse(address, base ?? undefined)) return null;
  const url = new URL(address, base ?? undefined);
  const isWeb = url.protocol === "http:" || url.protocol === "https:";
  return isWeb && url.username === "" && url.password === "" && url.href.length <= 2000 ? url.href : null;
}
