import { datetime, declare, flag, type RecordFrom, reference, text } from "./declare.ts";
import { project } from "./project.ts";
import { version } from "./version.ts";

export const build = declare({
  name: "build",
  order: { by: "date", isDescending: true },
  listedBy: "project",
  // The schema of the service names it. A build has no slug, so a filter by it is an unknown parameter.
  otherFilters: { slug: 2 },
  summary: ["id", "date", "state", "success", "type", "project", "version", "error"],
  fields: {
    resource_uri: text({ readonly: true }),
    date: datetime(),
    project: reference(project, { filter: 2 }),
    version: reference(version, { nullable: true }),
    state: text({ default: "finished", filter: 2 }),
    success: flag({ default: true }),
    type: text({ default: "html", filter: 2 }),
    output: text({ blank: true, long: true }),
    error: text({ blank: true, long: true }),
    setup: text({ nullable: true, default: "", long: true }),
    setup_error: text({ nullable: true, default: "", long: true }),
  },
});

export type BuildRecord = RecordFrom<typeof build>;
