import { messageOf } from "../base/errors.ts";
import { createMeters } from "../base/metrics/meters.ts";
import { readDefinitions } from "../report/definitions.ts";
import { isReportBehind, mayRefresh, tryRefresh } from "../report/refresh/refresh.ts";
import { type MirrorServer, serveMirror } from "../serve/http/serve-mirror.ts";
import { withSql } from "../store/connection/connect.ts";
import { loadPasswordRules } from "../store/connection/scram-password.ts";
import { openDatabase } from "../store/embedded/open-embedded.ts";
import { areReportsLater } from "../store/migrate/migrate.ts";
import { assertMirror } from "../store/migrate/prepare.ts";
import { type CommandContext, closeInTime, untilStopped } from "./context/run-command.ts";
import { assertMirrorPlace, mirrorPlace, readerUrlOf, warnOfOther } from "./context/with-mirror.ts";
import { readSession, readSettings, refreshForReplica, withReplicaHints } from "./context/with-reports.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { createKeptDatabase } from "./worker/kept-database.ts";

const CONNECTION = { applicationName: "docmirror serve", max: 1 };

export const command: CommandDeclaration = {
  settings: ["database", "readUrl", "server", "reports", "status"],
  examples: [
    ["serve", "prints its address and serves until Ctrl-C: the report page at /, the API below /api/"],
    ["serve --http-port 0", "on a free port"],
    ["serve --read-url postgres://db2/docmirror", "reads a replica alone"],
    ["serve --http-host 0.0.0.0", "for other machines too; there is no password, so limit who can reach it"],
  ],
  flags: (command) => command.option("--json", "print the address as one JSON document"),
  run: (context) => withReplicaHints(context.config, () => serve(context)),
};

async function serve(context: CommandContext): Promise<never> {
  const { config, reread, log, clock, signal, print } = context;
  const place = readSettings(config);
  // Waits for a database that is down, but not for a mirror that does not exist yet.
  assertMirrorPlace(place);
  // An upgrade may replace the program's files before a password is read again.
  await loadPasswordRules();
  /** The parts that a refresh needs, which writes. */
  let ownerUrl = "";
  const database = createKeptDatabase({
    program: "docmirror serve",
    async open(openSignal) {
      assertMirrorPlace(place);
      const opened = await openDatabase({ ...readSettings(await reread()), log, signal: openSignal });
      ownerUrl = opened.url;
      return { ...opened, url: await readerUrlOf(opened) };
    },
    async prepare(_opened, sql) {
      await assertMirror(sql, readDefinitions(), mirrorPlace(place));
      await warnOfOther(context, sql);
    },
    isLoginFixed: false,
    clock,
    log,
  });
  let server: MirrorServer | undefined;
  try {
    server = await serveMirror(context, database, { meters: createMeters(), isWorker: false });
    const { url } = server;
    await print({ url }, () => `${url}\n`);
    // A fault that waiting does not repair ends the command here, with its own exit code.
    await server.mirror.open();
    await database.ready(signal);
    await (config.readUrl === null ? bringUpToDate : askPrimary)(context, ownerUrl);
    await server.warmUp();
    return await untilStopped(signal);
  } finally {
    await closeInTime(signal, async () => {
      await server?.close();
      await database.close();
    });
  }
}

/** Refreshes answers that are older than the last run. The page is served meanwhile, and also when this fails. */
async function bringUpToDate({ config, log, signal }: CommandContext, url: string): Promise<void> {
  const isDue = await withSql(url, CONNECTION, async (sql) => {
    if (await areReportsLater(sql, readDefinitions())) {
      log.info("a later version of docmirror refreshes the figures");
      return false;
    }
    if (await mayRefresh(sql)) return isReportBehind(sql);
    log.info("this role only reads, so the figures stay as the last sync left them");
    return false;
  }).catch(() => false);
  // If the database is down again, the page says so.
  if (!isDue) return;
  log.info("the figures are older than the last run; refreshing them");
  const error = await withSql(url, { ...CONNECTION, log }, (sql) =>
    tryRefresh(sql, { ...config, keepsSettings: true, signal }, log),
  );
  if (error === null) log.info("the figures are up to date");
}

/** The same where a replica is read: the primary refreshes the answers, which the replica then replays. */
async function askPrimary(context: CommandContext, url: string): Promise<void> {
  const { config, log, signal } = context;
  try {
    await withSql(url, { ...CONNECTION, session: readSession(config) }, (sql) =>
      refreshForReplica(context, sql),
    );
  } catch (error) {
    if (signal.aborted) throw error;
    log.warn({ error: messageOf(error) }, "could not see how old the figures are");
  }
}
