import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import type { RecordTypes, Resource } from "../../src/resources/resources.ts";
import type { Catalog } from "../../src/serve/protocol/catalog.ts";
import { matchesFilter } from "../../src/serve/protocol/filters.ts";
import { createProtocol } from "../../src/serve/protocol/protocol.ts";
import { later } from "../support/tally.ts";

export type StoredService = Awaited<ReturnType<typeof serveStored>>;

/**
 * Serves lists that were stored as JSON by resource, gzipped, and that never change; `delayMs` is the wait before each reply. So many
 * requests as `answered` says are answered; later ones are held until `release`.
 */
export async function serveStored(file: string, { delayMs = 0, answered = Number.POSITIVE_INFINITY } = {}) {
  const lists = JSON.parse(gunzipSync(readFileSync(file)).toString()) as {
    [R in Resource]: RecordTypes[R][];
  };
  const find = (resource: Resource, id: string) => lists[resource].find((record) => String(record.id) === id);
  const catalog: Catalog = {
    async list<R extends Resource>(resource: R, { filters, offset, limit }: Parameters<Catalog["list"]>[1]) {
      const records = (lists[resource] as RecordTypes[R][]).filter((record) =>
        filters.every((filter) => matchesFilter(resource, record, filter, find)),
      );
      return { records: records.slice(offset, offset + limit), totalCount: records.length };
    },
    async find<R extends Resource>(resource: R, id: string) {
      return find(resource, id) as RecordTypes[R] | undefined;
    },
    searchFiles: async () => [],
    searchAnchors: async () => [],
    searchDocs: async () => undefined,
  };
  const app = createProtocol({ catalog });
  let requests = 0;
  const { promise: released, resolve: release } = later();
  const server = createAdaptorServer({
    async fetch(request) {
      requests += 1;
      if (requests > answered) await released;
      if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
      return app.fetch(request);
    },
    overrideGlobalObjects: false,
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests: () => requests,
    release,
    async [Symbol.asyncDispose]() {
      const closed = once(server, "close");
      server.close();
      if ("closeAllConnections" in server) server.closeAllConnections();
      await closed;
    },
  };
}
