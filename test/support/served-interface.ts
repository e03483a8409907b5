import { systemClock } from "../../src/base/clock.ts";
import { silentLog } from "../../src/base/log.ts";
import { createPages } from "../../src/page/pages.ts";
import { createMirrorCatalog } from "../../src/serve/catalog/mirror-catalog.ts";
import { createApp } from "../../src/serve/http/app.ts";
import { createServedMirror } from "../../src/serve/http/served-mirror.ts";
import { startServer } from "../../src/serve/http/server.ts";

export interface ServedInterface extends AsyncDisposable {
  readonly url: string;
  /** The parsed body of a reply, which must be 200. */
  json(path: string): Promise<unknown>;
  get(path: string, init?: RequestInit): Promise<Response>;
}

/** The interface over a mirror, on a port, as `docmirror serve` answers it. */
export async function serveInterface(databaseUrl: string): Promise<ServedInterface> {
  const mirror = createServedMirror({ ready: async () => databaseUrl, log: silentLog });
  await mirror.open();
  const server = await startServer({
    app: createApp({
      pages: createPages({ mirror, sourceTimezone: "Etc/UTC", clock: systemClock, log: silentLog }),
      catalog: createMirrorCatalog(mirror),
      clock: systemClock,
      log: silentLog,
    }),
    host: "127.0.0.1",
    port: 0,
    graceMs: 100,
  });
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, { redirect: "manual", ...init });
  return {
    url: server.url,
    get,
    async json(path) {
      const reply = await get(path);
      if (reply.status !== 200) throw new Error(`${path} answered ${reply.status}: ${await reply.text()}`);
      return reply.json();
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await mirror.close();
    },
  };
}
