import type { FieldKinds } from "./fields.ts";
import type { ProjectRecord } from "./project.ts";

export interface FileRecord {
  id: string;
  resource_uri: string;
  absolute_url: string;
  name: string;
  path: string;
  project: ProjectRecord;
}

/** One hit of the file search: a file record with a snippet (`docs/interface.md`, "Searches"). */
export interface FileHitRecord extends FileRecord {
  text: string;
}

export const fileFields = {
  resource_uri: "string",
  absolute_url: "string",
  name: "string",
  path: "string",
  project: "embedded",
} as const satisfies FieldKinds;
