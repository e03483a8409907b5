import { declare, embedded, flag, type RecordFrom, text } from "./declare.ts";
import { project } from "./project.ts";

export const version = declare({
  name: "version",
  order: { by: "verbose_name", isDescending: true },
  listedBy: "project",
  summary: ["id", "project", "slug", "active", "built", "uploaded", "identifier"],
  fields: {
    resource_uri: text({ readonly: true }),
    slug: text({ filter: 2 }),
    verbose_name: text(),
    identifier: text(),
    active: flag({ default: false, filter: 1 }),
    built: flag({ default: false }),
    uploaded: flag({ default: false }),
    project: embedded(project, { filter: 2 }),
  },
});

export type VersionRecord = RecordFrom<typeof version>;
