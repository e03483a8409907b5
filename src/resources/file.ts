import { declare, embedded, type RecordFrom, text } from "./declare.ts";
import { project } from "./project.ts";

export const file = declare({
  name: "file",
  summary: ["id", "project", "path", "absolute_url"],
  fields: {
    resource_uri: text({ readonly: true }),
    absolute_url: text({ readonly: true }),
    name: text(),
    path: text(),
    project: embedded(project),
  },
});

export type FileRecord = RecordFrom<typeof file>;

/** One hit of the file search: a file record with a snippet (`docs/interface.md`, "Searches"). */
export interface FileHitRecord extends FileRecord {
  text: string;
}
