import type { Build as WireBuild } from "../resources/build.ts";
import type { File as WireFile, FileHit as WireFileHit } from "../resources/file.ts";
import type { Project as WireProject } from "../resources/project.ts";
import type { User as WireUser } from "../resources/user.ts";
import type { Version as WireVersion } from "../resources/version.ts";

/**
 * A record as it was received (`docs/interface.md`, "Records"). Only `id` is sure. Any other documented field
 * may be null or absent, because releases of the service drop fields and leave them empty. If it is there, it
 * has the documented type. Fields that are not documented are kept, as `unknown`.
 */
export type Received<R> = { readonly id: string } & {
  readonly [Field in Exclude<keyof R, "id">]?: ReceivedValue<R[Field]> | null;
} & { readonly [unknownField: string]: unknown };

type ReceivedValue<V> = V extends WireProject ? Received<WireProject> : V;

/** Follows `docs/interface.md`, "User". `last_login` is a date without a zone. */
export type User = Received<WireUser>;
/** Follows `docs/interface.md`, "Project". Dates have no zone; `users` are paths. */
export type Project = Received<WireProject>;
/** Follows `docs/interface.md`, "Version". `project` is the whole project. */
export type Version = Received<WireVersion>;
/** Follows `docs/interface.md`, "File". `project` is the whole project; `absolute_url` is the page itself. */
export type File = Received<WireFile>;
/**
 * Follows `docs/interface.md`, "Build". `date` has no zone; `project` and `version` are paths. Before `state`
 * is `finished`, `success` means nothing.
 */
export type Build = Received<WireBuild>;

/** A file with `text`, a snippet of HTML in which the words stand in spans of class `highlighted`. */
export type FileHit = Received<WireFileHit>;

/** The record of each resource. */
export interface RecordOf {
  user: User;
  project: Project;
  version: Version;
  file: File;
  build: Build;
}
