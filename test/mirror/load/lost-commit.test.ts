import net from "node:net";
import { expect, test } from "vitest";
import { silentLog } from "../../../src/base/log.ts";
import { createKnownKeys } from "../../../src/mirror/load/known-keys.ts";
import { createLoader } from "../../../src/mirror/load/loader.ts";
import { connect } from "../../../src/store/connection/connect.ts";
import { createPatience } from "../../../src/store/connection/patience.ts";
import { createTestDatabase } from "../../support/database.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { mirrorRows } from "../../support/mirror-rows.ts";
import { wireBuild } from "../../support/wire-records.ts";

/** A port in front of the server that swallows the answer to the first commit and hangs up. */
async function startSwallower(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const sockets = new Set<net.Socket>();
  let swallowed = 0;
  const server = net.createServer((client) => {
    const upstream = net.connect({ host: target.hostname, port: Number(target.port), noDelay: true });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", (chunk: Buffer) => {
      // CommandComplete of a commit: by then it is made.
      if (swallowed === 0 && chunk.includes("COMMIT\0")) {
        swallowed += 1;
        client.destroy();
      } else client.write(chunk);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  return {
    url: url.href,
    swallowed: () => swallowed,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

test("a commit whose answer was lost is made once, and nothing is missing", { tags: ["long"] }, async () => {
  await using database = await createTestDatabase();
  await using swallower = await startSwallower(database.url);
  const builds = ["1", "2", "3"].map((id) => wireBuild(id, {}));
  const load = async (url: string, records: readonly unknown[]) => {
    const sql = connect(url, { applicationName: "docmirror test" });
    const signal = new AbortController().signal;
    const waits = { clock: createFakeClock(), signal, log: silentLog, regain: async () => {}, renew() {} };
    const loader = createLoader({
      sql,
      keys: createKnownKeys(sql),
      baseUrl: new URL("http://service.invalid"),
      sourceTimezone: "Etc/UTC",
      runId: 1,
      patience: createPatience(waits),
    });
    const page = { records, request: "/api/v1/build/", observedAt: new Date(Date.UTC(2024, 4, 15, 12)) };
    try {
      return await loader.load({ resource: "build", pages: [page], source: "list" });
    } finally {
      await sql.end({ timeout: 5 });
    }
  };
  const counts = await load(swallower.url, [...builds, { id: null }]);
  expect(swallower.swallowed()).toBe(1);
  expect(counts).toMatchObject({ inserted: 0, updated: 0, unchanged: 3, transitions: 0 });
  await using calm = await createTestDatabase();
  await load(calm.url, [...builds, { id: null }]);
  expect(await mirrorRows(database.url)).toEqual(await mirrorRows(calm.url));
  const sql = connect(database.url, { applicationName: "docmirror test", max: 1 });
  expect(
    await sql`select (select count(*) from mirror.changes) as changes,
    (select count(*) from sync.quarantine) as quarantined`,
  ).toEqual([{ changes: 0, quarantined: 1 }]);
  await sql.end({ timeout: 5 });
});
