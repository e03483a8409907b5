import type { BuildRecord } from "../resources/build.ts";
import type { FileHitRecord, FileRecord } from "../resources/file.ts";
import type { ProjectRecord } from "../resources/project.ts";
import type { UserRecord } from "../resources/user.ts";
import type { VersionRecord } from "../resources/version.ts";

/**
 * A record as it was received (`docs/interface.md`, "Records"). Only `id` is sure. Any other documented field
 * may be null or absent, because releases of the service drop fields and leave them empty. If it is there, it
 * has the documented type. Fields that are not documented are kept, as `unknown`.
 */
export type Received<R> = { readonly id: string } & {
  readonly [Field in Exclude<keyof R, "id">]?: ReceivedValue<R[Field]> | null;
} & { readonly [unknownField: string]: unknown };

type ReceivedValue<V> = V extends ProjectRecord ? Received<ProjectRecord> : V;

/** Follows `docs/interface.md`, "User". `last_login` is a date without a zone. */
export type User = Received<UserRecord>;
/** Follows `docs/interface.md`, "Project". Dates have no zone; `users` are paths. */
export type Project = Received<ProjectRecord>;
/** Follows `docs/interface.md`, "Version". `project` is the whole project. */
export type Version = Received<VersionRecord>;
/** Follows `docs/interface.md`, "File". `project` is the whole project; `absolute_url` is the page itself. */
export type File = Received<FileRecord>;
/**
 * Follows `docs/interface.md`, "Build". `date` has no zone; `project` and `version` are paths. Before `state`
 * is `finished`, `success` means nothing.
 */
export type Build = Received<BuildRecord>;

/** A file with `text`, a snippet of HTML in which the words stand in spans of class `highlighted`. */
export type FileHit = Received<FileHitRecord>;

/** The record of each resource. */
export interface RecordOf {
  user: User;
  project: Project;
  version: Version;
  file: File;
  build: Build;
}
