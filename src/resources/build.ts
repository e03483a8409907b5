import type { FieldKinds } from "./fields.ts";

export interface BuildRecord {
  id: string;
  resource_uri: string;
  date: string;
  project: string;
  version: string | null;
  state: string;
  success: boolean;
  type: string;
  output: string;
  error: string;
  setup: string | null;
  setup_error: string | null;
}

/**
 * The documented states (`docs/interface.md`, "Build"), in their order. Services have sent others too; they
 * are kept as they are.
 */
export const BUILD_STATES = ["triggered", "building", "finished"] as const;

export const buildFields = {
  resource_uri: "string",
  date: "datetime",
  project: "uri",
  version: "uri",
  state: "string",
  success: "boolean",
  type: "string",
  output: "string",
  error: "string",
  setup: "string",
  setup_error: "string",
} as const satisfies FieldKinds;
