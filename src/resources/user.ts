import type { FieldKinds } from "./fields.ts";

export interface UserRecord {
  id: string;
  resource_uri: string;
  username: string;
  first_name: string;
  last_name: string;
  last_login: string | null;
}

export const userFields = {
  resource_uri: "string",
  username: "string",
  first_name: "string",
  last_name: "string",
  last_login: "datetime",
} as const satisfies FieldKinds;
