/** What compiles for those who use the client, and what does not: `tsc` checks this file in `npm run lint`. */
import { describe, expectTypeOf, it } from "vitest";
import type {
  Build,
  DocHits,
  Extra,
  FileHit,
  Filters,
  ListPage,
  Project,
  Reply,
  ResourceEndpoints,
  ResourceSchema,
  RootListing,
  ServiceClient,
  ServiceClientOptions,
  UpstreamError,
  User,
  Version,
} from "../../src/client/index.ts";

const typed = (_: (service: ServiceClient) => unknown): void => {};
const given = <T>(): T => undefined as T;

describe("a field that no record has", () => {
  it("does not compile on records, pages, roots, schemas and hits", () => {
    typed(() => {
      // @ts-expect-error success
      given<Build>().sucess;
      // @ts-expect-error slug
      given<Version>().project?.slgu;
      // @ts-expect-error username
      given<User>().user_name;
      // @ts-expect-error text
      given<FileHit>().texts;
      // @ts-expect-error total_count
      given<ListPage<Build>>().meta.totalCount;
      // @ts-expect-error build
      given<RootListing>().builds;
      // @ts-expect-error schema
      given<ResourceEndpoints>().scheme;
      // @ts-expect-error fields
      given<ResourceSchema>().filtering;
      // @ts-expect-error help_text
      given<ResourceSchema>().fields?.id?.help;
      // @ts-expect-error total
      given<DocHits>().count;
      // @ts-expect-error fields.link
      given<DocHits>().hits[0]?.link;
      // @ts-expect-error title
      given<DocHits>().hits[0]?.fields.titel;
      // @ts-expect-error content
      given<DocHits>().hits[0]?.highlight.contents;
    });
  });

  it("is in extra, as unknown", () => {
    expectTypeOf<Build["extra"]>().toEqualTypeOf<Extra>();
    expectTypeOf<Build["extra"]["commit"]>().toEqualTypeOf<unknown>();
    expectTypeOf<ListPage<Build>["meta"]["extra"]>().toEqualTypeOf<Extra>();
    expectTypeOf<RootListing["extra"]["page"]>().toEqualTypeOf<ResourceEndpoints | undefined>();
  });
});

describe("a documented field", () => {
  it("has its type, or is null or absent; the id is sure", () => {
    expectTypeOf<Build["id"]>().toEqualTypeOf<string>();
    expectTypeOf<Build["success"]>().toEqualTypeOf<boolean | null | undefined>();
    expectTypeOf<Build["date"]>().toEqualTypeOf<string | null | undefined>();
    expectTypeOf<Project["users"]>().toEqualTypeOf<string[] | null | undefined>();
    expectTypeOf<Version["project"]>().toEqualTypeOf<Project | null | undefined>();
    expectTypeOf<RootListing["build"]>().toEqualTypeOf<ResourceEndpoints | undefined>();
  });
});

describe("filters", () => {
  it("are those of the declarations, by resource", () => {
    type Text = string | number | undefined;
    expectTypeOf<Filters<"build">["state"]>().toEqualTypeOf<Text>();
    expectTypeOf<keyof Filters<"build">>().toEqualTypeOf<"project" | "project__slug" | "state" | "type">();
    expectTypeOf<keyof Filters<"version">>().toEqualTypeOf<"active" | "project" | "project__slug" | "slug">();
    expectTypeOf<keyof Filters<"project">>().toEqualTypeOf<"slug" | "users">();
    expectTypeOf<keyof Filters<"user">>().toEqualTypeOf<"username">();
    expectTypeOf<Filters<"version">["active"]>().toEqualTypeOf<boolean | undefined>();
  });

  it("of another name, of another resource or of another type do not compile", () => {
    typed((service) => {
      // @ts-expect-error project__slug
      service.list("build", { filters: { project_slug: "pip" } });
      // @ts-expect-error project__slug
      service.listPages("version", { filters: { projectSlug: "pip" } });
      // @ts-expect-error users have no state
      service.fetchPage("user", { filters: { state: "finished" } });
      // @ts-expect-error files have no filter
      service.list("file", { filters: { name: "x" } });
      // @ts-expect-error a build's success is no filter
      service.list("build", { filters: { success: true } });
      // @ts-expect-error a boolean
      service.list("version", { filters: { active: "yes" } });
      // @ts-expect-error a query has no such part
      service.list("build", { filter: { project__slug: "pip" } });
      // @ts-expect-error no such resource
      service.list("builds");
      service.list("build", { filters: { project__slug: "pip", state: undefined } });
      service.list("file", { otherFilters: { name: "x" } });
    });
  });
});

describe("a call", () => {
  it("takes signal, time, retries and headers, and no option of another name", () => {
    typed((service) => {
      const { signal } = new AbortController();
      service.fetchRecord("build", "7", { signal, timeoutMs: 1, retries: 0, headers: { from: "me" } });
      // @ts-expect-error timeoutMs
      service.fetchRoot({ timeout: 1 });
      // @ts-expect-error headers are texts
      service.fetchRoot({ headers: { from: 1 } });
    });
  });

  it("gives its value, and its reply when asked", () => {
    typed(async (service) => {
      expectTypeOf(await service.fetchRecord("version", "7")).toEqualTypeOf<Version>();
      const { value, reply } = await service.fetchRecord("build", "7").withReply();
      expectTypeOf(value).toEqualTypeOf<Build>();
      expectTypeOf(reply).toEqualTypeOf<Reply>();
      expectTypeOf(reply.requestId).toEqualTypeOf<string | null>();
      expectTypeOf((await service.fetchPage("user")).reply).toEqualTypeOf<Reply>();
      expectTypeOf<UpstreamError["body"]>().toEqualTypeOf<unknown>();
      expectTypeOf<UpstreamError["reply"]>().toEqualTypeOf<Reply | undefined>();
    });
  });

  it("gives no array of a list without a bound", () => {
    typed(async (service) => {
      expectTypeOf(await service.list("build").toArray({ max: 10 })).toEqualTypeOf<Build[]>();
      expectTypeOf(await service.versionsOf("pip").toArray({ max: 10 })).toEqualTypeOf<Version[]>();
      // @ts-expect-error max
      service.list("build").toArray();
      // @ts-expect-error max
      service.list("build").toArray({});
    });
  });
});

describe("a client", () => {
  it("takes fetch as Node has it, and no option of another name", () => {
    expectTypeOf<typeof globalThis.fetch>().toExtend<NonNullable<ServiceClientOptions["fetch"]>>();
    expectTypeOf<typeof import("undici").fetch>().toExtend<NonNullable<ServiceClientOptions["fetch"]>>();
    // @ts-expect-error ratePerSecond
    given<(options: ServiceClientOptions) => void>()?.({ baseUrl: "", rate: 5 });
  });
});
