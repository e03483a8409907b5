import type { Field } from "../../src/resources/declare.ts";
import {
  type BuildRecord,
  type FileRecord,
  fieldsOf,
  type ProjectRecord,
  type Resource,
  type UserRecord,
  type VersionRecord,
} from "../../src/resources/resources.ts";

/** `over` replaces fields of a record, and may add unknown ones. */
type Over<R> = Partial<Record<keyof R, unknown>> & Record<string, unknown>;

/**
 * A record with each documented field, as the service sends it. A field that is not given is empty, or null where it may be;
 * no record holds a project then.
 */
export function wholeRecord(
  resource: Resource,
  id: string,
  given: Record<string, unknown> = {},
): Record<string, unknown> {
  const fields = fieldsOf(resource).map(([name, field]) => [name, emptyValue(field)]);
  return { ...Object.fromEntries(fields), id, resource_uri: `/api/v1/${resource}/${id}/`, ...given };
}

function emptyValue({ kind, nullable, to }: Field): unknown {
  if (kind === "uris") return [];
  if (nullable || kind === "embedded") return null;
  if (kind === "boolean") return false;
  if (kind === "datetime") return "2024-05-01T10:00:00.500000";
  return kind === "uri" ? `/api/v1/${to?.name}/1/` : "";
}

export function wireUser(id: string, over: Over<UserRecord> = {}): Record<string, unknown> {
  return wholeRecord("user", id, {
    username: `user-${id}`,
    first_name: "Ada",
    last_login: "2024-05-01T08:00:00.000001",
    ...over,
  });
}

export function wireProject(id: string, over: Over<ProjectRecord> = {}): Record<string, unknown> {
  return wholeRecord("project", id, {
    absolute_url: `/projects/project-${id}/`,
    name: `Project ${id}`,
    slug: `project-${id}`,
    copyright: "2024",
    default_branch: "",
    default_version: "latest",
    documentation_type: "docgen",
    repo: `https://code.example.org/${id}`,
    repo_type: "git",
    requirements_file: "",
    subdomain: `http://project-${id}.example.org/`,
    suffix: ".rst",
    theme: "default",
    pub_date: "2024-04-01T10:00:00",
    ...over,
  });
}

export function wireVersion(
  id: string,
  project: unknown,
  over: Over<VersionRecord> = {},
): Record<string, unknown> {
  return wholeRecord("version", id, {
    slug: "latest",
    verbose_name: "latest",
    identifier: "origin/main",
    active: true,
    built: true,
    project,
    ...over,
  });
}

export function wireFile(id: string, project: unknown, over: Over<FileRecord> = {}): Record<string, unknown> {
  return wholeRecord("file", id, {
    absolute_url: `/docs/${id}.html`,
    name: `${id}.html`,
    path: `docs/${id}.html`,
    project,
    ...over,
  });
}

export function wireBuild(id: string, over: Over<BuildRecord> = {}): Record<string, unknown> {
  return wholeRecord("build", id, {
    date: "2024-05-15T11:00:00.123456",
    state: "triggered",
    success: true,
    type: "html",
    setup: "",
    setup_error: "",
    ...over,
  });
}
