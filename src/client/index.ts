/** The package's entry `docmirror/client`: the service as typed functions. `docs/client.md` shows its use. */
export {
  ConfigError,
  HttpStatusError,
  MirrorError,
  NetworkError,
  NotFoundError,
  type Reply,
  TimeoutError,
  UnexpectedShapeError,
  UpstreamError,
  WrongAddressError,
} from "../base/errors.ts";
export type { Fetch, FetchInit, FetchReply, RequestNotice } from "../mirror/api/fetch.ts";
export { RESOURCES, type Resource } from "../resources/resources.ts";
export type { CallOptions, RetryNotice, ServiceClientOptions } from "./client-options.ts";
export { createServiceClient } from "./create-service-client.ts";
export type { DocSearch, Filters, OtherFilters } from "./endpoint-path.ts";
export type { ListPage, PageMeta } from "./list-pages.ts";
export type {
  Build,
  Extra,
  File,
  FileHit,
  Project,
  Received,
  RecordOf,
  User,
  Version,
} from "./parse-record.ts";
export type {
  DocHit,
  DocHits,
  ResourceEndpoints,
  ResourceSchema,
  RootListing,
  SchemaField,
} from "./parse-replies.ts";
export type {
  Answer,
  Call,
  FileSearchOptions,
  ListQuery,
  PageQuery,
  RecordList,
  ServiceClient,
} from "./service-client.ts";
