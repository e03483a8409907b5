import type { FieldKinds } from "./fields.ts";
import type { ProjectRecord } from "./project.ts";

export interface VersionRecord {
  id: string;
  resource_uri: string;
  slug: string;
  verbose_name: string;
  identifier: string;
  active: boolean;
  built: boolean;
  uploaded: boolean;
  project: ProjectRecord;
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
