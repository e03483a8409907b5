import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { embeddedPasswordFile, openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { PLANTED_SECRET } from "./planted-secret.ts";

/** A folder for an embedded Postgres of a test's own. What runs in it at the end is stopped with the folder's removal. */
export async function createDataDir() {
  const path = await mkdtemp(join(tmpdir(), "docmirror-data-"));
  await writeFile(embeddedPasswordFile(path), PLANTED_SECRET, { mode: 0o600 });
  /** The server's process, or null where none has been left running. */
  const serverPid = async () => {
    const text = await readFile(join(path, "postgres", "postmaster.pid"), "utf8").catch(() => "");
    return Number(text.split("\n", 1)[0]) || null;
  };
  return {
    path,
    serverPid,
    /** Reads the database, joining its server or starting it. */
    async withDatabase<T>(read: (url: string) => Promise<T>): Promise<T> {
      const server = await openEmbedded({ dataDir: path, log: silentLog, settings: { fsync: "off" } });
      try {
        return await read(server.url);
      } finally {
        await server.close();
      }
    },
    async [Symbol.asyncDispose]() {
      const pid = await serverPid();
      if (pid !== null) {
        // A fast shutdown, whoever is connected.
        process.kill(pid, "SIGINT");
        await expect.poll(serverPid).toBeNull();
      }
      await rm(path, { recursive: true, force: true });
    },
  };
}
