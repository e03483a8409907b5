import type { FileHitRecord } from "../resources/file.ts";
import type { ProjectRecord } from "../resources/project.ts";
import type { RecordTypes, Resource } from "../resources/resources.ts";

/**
 * A record as it was received (`docs/interface.md`, "Records"). Only `id` is sure. Any other documented field
 * may be null or absent, because releases of the service drop fields and leave them empty. If it is there, it
 * has the documented type. Fields that are not documented are kept, as `unknown`.
 */
export type Received<R> = { readonly id: string } & {
  readonly [Field in Exclude<keyof R, "id">]?: ReceivedValue<R[Field]> | null;
} & { readonly [unknownField: string]: unknown };

type ReceivedValue<V> = V extends ProjectRecord ? Received<ProjectRecord> : V;

/** The record of each resource. */
export type RecordOf = { readonly [R in Resource]: Received<RecordTypes[R]> };

/** Follows `docs/interface.md`, "User". `last_login` is a date without a zone. */
export type User = RecordOf["user"];
/** Follows `docs/interface.md`, "Project". Dates have no zone; `users` are paths. */
export type Project = RecordOf["project"];
/** Follows `docs/interface.md`, "Version". `project` is the whole project. */
export type Version = RecordOf["version"];
/** Follows `docs/interface.md`, "File". `project` is the whole project; `absolute_url` is the page itself. */
export type File = RecordOf["file"];
/**
 * Follows `docs/interface.md`, "Build". `date` has no zone; `project` and `version` are paths. Before `state`
 * is `finished`, `success` means nothing.
 */
export type Build = RecordOf["build"];

/** A file with `text`, a snippet of HTML in which the words stand in spans of class `highlighted`. */
export type FileHit = Received<FileHitRecord>;
