import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findServerAccount } from "../../src/store/embedded/account.ts";
import { freePort } from "./free-port.ts";

/** PgBouncer's path: `PGBOUNCER_PATH`, else where Debian and others have it; null where there is none. */
export const PGBOUNCER =
  [
    process.env.PGBOUNCER_PATH,
    ...["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"],
  ].find((path) => path !== undefined && existsSync(path)) ?? null;

export type Pooler = Awaited<ReturnType<typeof startPooler>>;

/**
 * A PgBouncer before the server of this URL, for all of its databases. `settings` are lines of its configuration, `{ pool_mode: "session" }` for
 * example. Call it only where there is a PGBOUNCER.
 */
export async function startPooler(serverUrl: string, settings: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), "docmirror-pooler-"));
  const file = join(folder, "pgbouncer.ini");
  const { hostname, port: serverPort, username, password } = new URL(serverUrl);
  const port = Number(settings.listen_port ?? (await freePort()));
  const login = `user=${decodeURIComponent(username)} password='${decodeURIComponent(password)}'`;
  const lines = {
    listen_addr: "127.0.0.1",
    listen_port: String(port),
    unix_socket_dir: "",
    // Everyone is let in, as the user above.
    auth_type: "any",
    ...settings,
  };
  writeFileSync(
    file,
    [
      "[databases]",
      `* = host=${hostname} port=${serverPort} ${login}`,
      "[pgbouncer]",
      ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
    ].join("\n"),
  );
  // It refuses to run as root.
  const { spawnAs } = findServerAccount();
  for (const path of [folder, file]) {
    if (spawnAs.uid !== undefined && spawnAs.gid !== undefined) chownSync(path, spawnAs.uid, spawnAs.gid);
  }
  const child = spawn(PGBOUNCER ?? "", [file], { cwd: "/", stdio: ["ignore", "ignore", "pipe"], ...spawnAs });
  const end = () => void child.kill("SIGKILL");
  process.once("exit", end);
  await isUp(child);
  return {
    url: (databaseUrl: string) =>
      Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port: String(port) }).href,
    async [Symbol.asyncDispose]() {
      process.off("exit", end);
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function isUp(child: ChildProcess): Promise<void> {
  let said = "";
  return new Promise((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      said += text;
      if (said.includes("process up")) resolve();
    });
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`pgbouncer ended with exit code ${code}: ${said}`)));
  });
}
