import type { FieldKinds } from "./fields.ts";

export interface ProjectRecord {
  id: string;
  resource_uri: string;
  absolute_url: string;
  name: string;
  slug: string;
  description: string;
  analytics_code: string | null;
  copyright: string;
  pkgindex_url: string;
  pkgdirectory_url: string;
  default_branch: string | null;
  default_version: string;
  documentation_type: string;
  project_url: string;
  repo: string;
  repo_type: string;
  requirements_file: string | null;
  subdomain: string;
  suffix: string;
  theme: string;
  use_virtualenv: boolean;
  users: string[];
  modified_date: string;
  pub_date: string;
  version: string;
}

export const projectFields = {
  resource_uri: "string",
  absolute_url: "string",
  name: "string",
  slug: "string",
  description: "string",
  analytics_code: "string",
  copyright: "string",
  pkgindex_url: "string",
  pkgdirectory_url: "string",
  default_branch: "string",
  default_version: "string",
  documentation_type: "string",
  project_url: "string",
  repo: "string",
  repo_type: "string",
  requirements_file: "string",
  subdomain: "string",
  suffix: "string",
  theme: "string",
  use_virtualenv: "boolean",
  users: "uris",
  modified_date: "datetime",
  pub_date: "datetime",
  version: "string",
} as const satisfies FieldKinds;
