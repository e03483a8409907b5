import { test } from "vitest";
import { createKnownKeys } from "../../src/mirror/load/known-keys.ts";
import { type BatchCounts, createLoader } from "../../src/mirror/load/loader.ts";
import type { RunStart } from "../../src/mirror/load/project-sightings.ts";
import type { TransitionFacts } from "../../src/mirror/load/record-transitions.ts";
import type { Resource } from "../../src/resources/resources.ts";
import type { TransactionSql } from "../../src/store/connection/sql.ts";
import { createTestDatabase } from "./database.ts";

export interface LoadOptions {
  /** When the reply was here. @default a minute after the load before */
  at?: string;
  /** When the request was sent. @default when the reply was here */
  askedAt?: string;
  /** @default "list" */
  source?: "list" | "detail";
  alongside?: (tx: TransactionSql, counts: Omit<BatchCounts, "transitions">) => Promise<unknown>;
}

export type Loading = Awaited<ReturnType<typeof setUpLoading>>;

type Facts = Partial<TransitionFacts & RunStart & { replicaLagMs: number }>;

/** A fresh database with a loader in front of it. */
export async function setUpLoading(facts: Facts = {}) {
  const database = await createTestDatabase({ max: 4 });
  const { sql } = database;
  let runId = 0;
  let minutes = 0;
  const make = (more: Facts) => {
    runId += 1;
    const keys = createKnownKeys(sql);
    const baseUrl = new URL("http://service.invalid");
    const defaults = { sourceTimezone: "Etc/UTC", runId };
    return { keys, loader: createLoader({ sql, keys, baseUrl, ...defaults, ...facts, ...more }) };
  };
  let current = make({});
  type Pages = readonly (readonly unknown[])[];
  const loadPages = (resource: Resource, pages: Pages, options: LoadOptions = {}) => {
    const { at, source = "list", alongside } = options;
    minutes += 1;
    const observedAt = new Date(at ?? Date.UTC(2024, 4, 15, 12, minutes));
    const askedAt = options.askedAt === undefined ? observedAt : new Date(options.askedAt);
    const replies = pages.map((records, page) => {
      return { records, request: `/api/v1/${resource}/?page=${page}`, askedAt, observedAt };
    });
    return current.loader.load({ resource, source, pages: replies }, alongside);
  };
  return {
    url: database.url,
    sql,
    get loader() {
      return current.loader;
    },
    get keys() {
      return current.keys;
    },
    /** Loads several pages in one batch. */
    loadPages,
    /** Loads records as one page. */
    load: (resource: Resource, records: readonly unknown[], options?: LoadOptions) =>
      loadPages(resource, [records], options),
    /** A loader as a later run has it: it remembers nothing of this one. */
    nextRun(more: Facts = {}) {
      current = make(more);
    },
    [Symbol.asyncDispose]: database.dispose,
  };
}

/** Gives each test that asks for `loading` a fresh database of its own. */
export const loadingTest = test.extend<{ loading: Loading }>({
  async loading({ task: _ }, use) {
    await using loading = await setUpLoading();
    await use(loading);
  },
});
