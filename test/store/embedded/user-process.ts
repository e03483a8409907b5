/*
 * A process that uses the embedded Postgres, for tests that kill it: prints one line of JSON when it is in, leaves
 * when its standard input ends, and prints "closed" when it has left.
 */

import { silentLog } from "../../../src/base/log.ts";
import { openEmbedded } from "../../../src/store/embedded/open-embedded.ts";

const [dataDir = ""] = process.argv.slice(2);
openEmbedded({ dataDir, log: silentLog, settings: { fsync: "off" } })
  .then(async (server) => {
    const { url, port, startedHere } = server;
    process.stdout.write(`${JSON.stringify({ url, port, startedHere })}\n`);
    for await (const _ of process.stdin);
    await server.close();
    process.stdout.write("closed\n");
  })
  .catch((error: unknown) => {
    process.stderr.write(`${String(error)}\n`);
    process.exitCode = 1;
  });
