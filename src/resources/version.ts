import type { FieldKinds } from "./fields.ts";
import type { Project } from "./project.ts";

export interface Version {
  id: string;
  resource_uri: string;
  slug: string;
  verbose_name: string;
  identifier: string;
  active: boolean;
  built: boolean;
  uploaded: boolean;
  project: Project;
}

export const versionFields = {
  resource_uri: "string",
  slug: "string",
  verbose_name: "string",
  identifier: "string",
  active: "boolean",
  built: "boolean",
  uploaded: "boolean",
  project: "embedded",
} as const satisfies FieldKinds;
