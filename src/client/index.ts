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
export type { Fetch, FetchInit, FetchReply } from "../mirror/api/connections/fetch.ts";
export { RESOURCES, type Resource } from "../resources/resources.ts";
export type { Answer, Call } from "./answer.ts";
export type { CallOptions } from "./call-options.ts";
export type { RetryNotice, ServiceClientOptions } from "./client-options.ts";
export { createServiceClient } from "./create-service-client.ts";
export type { DocSearch } from "./endpoint-path.ts";
export type { Extra } from "./extra.ts";
export type { Filters, OtherFilters } from "./filters.ts";
export type { DocHit, DocHits } from "./parse-doc-hits.ts";
export type { ListPage, PageMeta } from "./parse-page.ts";
export type { ResourceEndpoints, RootListing } from "./parse-root.ts";
export type { ResourceSchema, SchemaField } from "./parse-schema.ts";
export type { RecordList } from "./record-list.ts";
export type { Build, File, FileHit, Project, Received, RecordOf, User, Version } from "./records.ts";
export type {
  FileSearchOptions,
  ListQuery,
  PageQuery,
  ServiceClient,
} from "./service-client.ts";
