import type { FileHitRecord } from "../resources/file.ts";
import type { ProjectRecord } from "../resources/project.ts";
import type { RecordTypes } from "../resources/resources.ts";
import type { Extra } from "./extra.ts";

/**
 * A record as it was received (`docs/interface.md`, "Records"). Only `id` is sure. Any other documented field
 * may be null or absent, because releases of the service drop fields and leave them empty. If it is there, it
 * has the documented type. What else came is in `extra`, which is empty otherwise.
 */
export type Received<R> = {
  readonly [Field in Exclude<keyof R, "id">]?: ReceivedValue<R[Field]> | null;
} & { readonly id: string; readonly extra: Extra };

type ReceivedValue<V> = V extends ProjectRecord ? Project : V;

/** Follows `docs/interface.md`, "User". `last_login` is a date without a zone. */
export interface User extends Received<RecordTypes["user"]> {}
/** Follows `docs/interface.md`, "Project". Dates have no zone; `users` are paths. */
export interface Project extends Received<ProjectRecord> {}
/** Follows `docs/interface.md`, "Version". `project` is the whole project. */
export interface Version extends Received<RecordTypes["version"]> {}
/** Follows `docs/interface.md`, "File". `project` is the whole project; `absolute_url` is the page itself. */
export interface File extends Received<RecordTypes["file"]> {}
/**
 * Follows `docs/interface.md`, "Build". `date` has no zone; `project` and `version` are paths. Before `state`
 * is `finished`, `success` means nothing.
 */
export interface Build extends Received<RecordTypes["build"]> {}

/** A file with `text`, a snippet of HTML in which the words stand in spans of class `highlighted`. */
export interface FileHit extends Received<FileHitRecord> {}

/** The record of each resource. */
export interface RecordOf {
  readonly user: User;
  readonly project: Project;
  readonly version: Version;
  readonly file: File;
  readonly build: Build;
}
