import type { Command } from "commander";
import { assertMirror } from "../db/assert-mirror.ts";
import { withSql } from "../db/connect.ts";
import { assertSessionPooling } from "../db/session-pooling.ts";
import { openDatabase } from "../embedded/open-database.ts";
import { EXIT, MirrorError } from "../errors.ts";
import { tryRefresh } from "../report/after-run.ts";
import { readDefinitions } from "../report/definitions.ts";
import { isReportBehind } from "../report/refresh.ts";
import { REFRESH_SETTINGS } from "../report/refresh-settings.ts";
import { type MirrorServer, serveMirror } from "../serve/serve-mirror.ts";
import { createKeptDatabase, type KeptDatabase } from "../worker/kept-database.ts";
import { closeInTime } from "./close-in-time.ts";
import { createCommand } from "./create-command.ts";
import { assertMirrorPlace, mirrorPlace } from "./mirror-place.ts";
import { type CommandContext, runCommand } from "./run-command.ts";
import { untilStopped } from "./until-stopped.ts";

interface Options {
  json?: true;
}

export function serveCommand(summary: string): Command {
  return createCommand({
    name: "serve",
    summary,
    settings: ["databaseUrl", "dataDir", "httpHost", "httpPort", ...REFRESH_SETTINGS],
    examples: [
      ["serve", "prints the address of the report page and serves it until Ctrl-C"],
      ["serve --http-port 0", "on a free port"],
      ["serve --http-host 0.0.0.0", "for other machines too; there is no password, so mind who can reach it"],
    ],
  })
    .option("--json", "print the address as one JSON document")
    .action(runCommand<Options>((context, { options }) => serve(context, options)));
}

async function serve(context: CommandContext, options: Options): Promise<never> {
  const { config, log, clock, signal, out } = context;
  const { databaseUrl, dataDir } = config;
  // A database that is down is waited for; a mirror that nobody has made yet is not.
  assertMirrorPlace(config);
  const database = createKeptDatabase({
    async open(openSignal) {
      assertMirrorPlace(config);
      return openDatabase({ databaseUrl, dataDir, log, signal: openSignal });
    },
    prepare: ({ url }) =>
      withSql(url, { applicationName: "docmirror serve", max: 1 }, async (sql) => {
        await assertSessionPooling(sql, url);
        await assertMirror(sql, readDefinitions(), mirrorPlace(config));
      }),
    clock,
    log,
  });
  let server: MirrorServer | undefined;
  try {
    server = await serveMirror(context, database);
    if (options.json) await out.json({ url: server.url });
    else await out.write(`${server.url}\n`);
    // What waiting cannot mend ends the command here, with its own exit code.
    await server.mirror.open();
    await bringUpToDate(context, server, database);
    await server.warmUp();
    return await untilStopped(signal);
  } finally {
    const code = signal.reason instanceof MirrorError ? signal.reason.exitCode : EXIT.bug;
    await closeInTime(code, async () => {
      await server?.close();
      await database.close();
    });
  }
}

/** Computes answers that a run has left behind, one that was killed for example. The page is served meanwhile, and without them. */
async function bringUpToDate(
  { config, log, signal }: CommandContext,
  { mirror }: MirrorServer,
  database: KeptDatabase,
): Promise<void> {
  // A database that has gone again is for the page to tell.
  const isBehind = await mirror.read(isReportBehind).catch(() => false);
  if (!isBehind) return;
  log.info("the figures are older than the last run; they are computed anew");
  const url = await database.ready(signal);
  const error = await tryRefresh(url, { ...config, keepsSettings: true, signal }, log);
  if (error === null) log.info("the figures are up to date");
}
