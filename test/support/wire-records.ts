import type { BuildRecord } from "../../src/resources/build.ts";
import type { FileRecord } from "../../src/resources/file.ts";
import type { ProjectRecord } from "../../src/resources/project.ts";
import type { Resource } from "../../src/resources/resources.ts";
import type { UserRecord } from "../../src/resources/user.ts";
import type { VersionRecord } from "../../src/resources/version.ts";

/** Whole records as the service sends them; `over` replaces fields, and may add unknown ones. */
type Over<R> = Partial<Record<keyof R, unknown>> & Record<string, unknown>;

export function wireUser(id: string, over: Over<UserRecord> = {}): Record<string, unknown> {
  return {
    id,
    resource_uri: `/api/v1/user/${id}/`,
    username: `user-${id}`,
    first_name: "Ada",
    last_name: "",
    last_login: "2024-05-01T08:00:00.000001",
    ...over,
  };
}

export function wireProject(id: string, over: Over<ProjectRecord> = {}): Record<string, unknown> {
  return {
    id,
    resource_uri: `/api/v1/project/${id}/`,
    absolute_url: `/projects/project-${id}/`,
    name: `Project ${id}`,
    slug: `project-${id}`,
    description: "",
    analytics_code: null,
    copyright: "2024",
    pkgindex_url: "",
    pkgdirectory_url: "",
    default_branch: "",
    default_version: "latest",
    documentation_type: "docgen",
    project_url: "",
    repo: `https://code.example.org/${id}`,
    repo_type: "git",
    requirements_file: "",
    subdomain: `http://project-${id}.example.org/`,
    suffix: ".rst",
    theme: "default",
    use_virtualenv: false,
    users: [],
    modified_date: "2024-05-01T10:00:00.500000",
    pub_date: "2024-04-01T10:00:00",
    version: "",
    ...over,
  };
}

export function wireVersion(
  id: string,
  project: unknown,
  over: Over<VersionRecord> = {},
): Record<string, unknown> {
  return {
    id,
    resource_uri: `/api/v1/version/${id}/`,
    slug: "latest",
    verbose_name: "latest",
    identifier: "origin/main",
    active: true,
    built: true,
    uploaded: false,
    project,
    ...over,
  };
}

export function wireFile(id: string, project: unknown, over: Over<FileRecord> = {}): Record<string, unknown> {
  return {
    id,
    resource_uri: `/api/v1/file/${id}/`,
    absolute_url: `/docs/${id}.html`,
    name: `${id}.html`,
    path: `docs/${id}.html`,
    project,
    ...over,
  };
}

export function wireBuild(id: string, over: Over<BuildRecord> = {}): Record<string, unknown> {
  return {
    id,
    resource_uri: `/api/v1/build/${id}/`,
    date: "2024-05-15T11:00:00.123456",
    project: "/api/v1/project/1/",
    version: null,
    state: "triggered",
    success: true,
    type: "html",
    output: "",
    error: "",
    setup: "",
    setup_error: "",
    ...over,
  };
}

/** One whole record of each resource that refers to no embedded project. */
export const WHOLE: Record<Resource, (id: string) => Record<string, unknown>> = {
  user: (id) => wireUser(id),
  project: (id) => wireProject(id),
  version: (id) => wireVersion(id, null),
  file: (id) => wireFile(id, null),
  build: (id) => wireBuild(id),
};
