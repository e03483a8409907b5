import { datetime, declare, flag, type RecordFrom, references, text } from "./declare.ts";
import { user } from "./user.ts";

export const project = declare({
  name: "project",
  order: { by: "slug" },
  foundBy: "slug",
  summary: ["id", "slug", "name", "modified_date", "repo", "documentation_type", "default_version"],
  fields: {
    resource_uri: text({ readonly: true }),
    absolute_url: text({ readonly: true }),
    name: text(),
    slug: text({ unique: true, filter: 2 }),
    description: text({ blank: true }),
    analytics_code: text({ nullable: true }),
    copyright: text({ blank: true }),
    pkgindex_url: text({ blank: true }),
    pkgdirectory_url: text({ blank: true }),
    default_branch: text({ nullable: true, default: null }),
    default_version: text({ default: "latest" }),
    documentation_type: text({ default: "docgen" }),
    project_url: text({ blank: true }),
    repo: text({ blank: true }),
    repo_type: text({ default: "git" }),
    requirements_file: text({ nullable: true, default: null }),
    subdomain: text({ readonly: true }),
    suffix: text({ default: ".rst" }),
    theme: text({ default: "default" }),
    use_virtualenv: flag({ default: false }),
    users: references(user, { filter: 2 }),
    modified_date: datetime(),
    pub_date: datetime(),
    version: text({ blank: true }),
  },
});

export type ProjectRecord = RecordFrom<typeof project>;
