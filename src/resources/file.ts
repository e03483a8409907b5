import type { FieldKinds } from "./fields.ts";
import type { Project } from "./project.ts";

export interface File {
  id: string;
  resource_uri: string;
  absolute_url: string;
  name: string;
  path: string;
  project: Project;
}

/** One hit of the file search: a file record with a snippet (`docs/interface.md`, "Searches"). */
export interface FileHit extends File {
  text: string;
}

export const fileFields = {
  resource_uri: "string",
  absolute_url: "string",
  name: "string",
  path: "string",
  project: "embedded",
} as const satisfies FieldKinds;
