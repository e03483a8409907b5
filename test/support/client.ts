import { silentLog } from "../../src/base/log.ts";
import { type Client, type ClientOptions, createClient } from "../../src/mirror/api/client.ts";
import { createFakeClock } from "./fake-clock.ts";

/** A client as fast as it goes, whose retry waits cost no time. */
export function createTestClient(
  baseUrl: URL | string,
  options: Partial<ClientOptions> = {},
): Client & AsyncDisposable {
  const client = createClient({
    baseUrl: new URL(baseUrl),
    concurrency: 4,
    ratePerSecond: 0,
    timeoutMs: 60_000,
    retries: 2,
    maxBodyBytes: 1024 * 1024,
    clock: createFakeClock(),
    log: silentLog,
    ...options,
  });
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}
