/** The package's entry `docmirror/client`: the service as typed functions. `docs/client.md` shows its use. */
export {
  ConfigError,
  HttpStatusError,
  MirrorError,
  NetworkError,
  NotFoundError,
  TimeoutError,
  UnexpectedShapeError,
  UpstreamError,
  WrongAddressError,
} from "../base/errors.ts";
export { RESOURCES, type Resource } from "../resources/resources.ts";
export type { RetryNotice, ServiceClientOptions } from "./client-options.ts";
export { createServiceClient } from "./create-service-client.ts";
export type { DocSearch } from "./endpoint-path.ts";
export type { DocHit, DocHits } from "./parse-doc-hits.ts";
export type { ListPage, PageMeta } from "./parse-page.ts";
export type { ResourceEndpoints, RootListing } from "./parse-root.ts";
export type { ResourceSchema, SchemaField } from "./parse-schema.ts";
export type { Build, File, FileHit, Project, Received, RecordOf, User, Version } from "./records.ts";
export type {
  CallOptions,
  FileSearchOptions,
  Filters,
  ListQuery,
  PageQuery,
  ServiceClient,
} from "./service-client.ts";
