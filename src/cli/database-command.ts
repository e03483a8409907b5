import { shellWord } from "../base/config/program.ts";
import { embeddedPasswordFile } from "../store/embedded/open-embedded.ts";
import { untilStopped } from "./context/run-command.ts";
import { withDatabase } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

/** No other command prints a password, and this one only with `--with-password`. */
export const command: CommandDeclaration<{ withPassword?: true }> = {
  settings: ["dataDir"],
  exits: ["database"],
  examples: [
    ["database", "stays in the foreground until Ctrl-C; says where the password is"],
    ["database --with-password", "with the password in the URL, for psql or a BI tool"],
    ["database --data-dir /var/lib/docmirror", "the same for another data folder"],
    ["database --json", "the URL, the port and the server's log as JSON"],
  ],
  hasJson: true,
  flags: (command) => command.option("--with-password", "print the URL with its password [default: without]"),
  run: async ({ config, log, signal, print }, { options }) => {
    if (config.databaseUrl !== null) {
      log.warn("DATABASE_URL is set, so other commands use that database; this is the embedded Postgres");
    }
    return withDatabase({ config: { ...config, databaseUrl: null }, log, signal }, async (database) => {
      const facts = { ...database.embedded, passwordFile: embeddedPasswordFile(config.dataDir) };
      const bareUrl = Object.assign(new URL(database.url), { password: "" }).href;
      const url = options.withPassword ? database.url : bareUrl;
      await print({ url, ...facts }, () => `${url}\n`);
      const psql = `PGPASSWORD="$(cat ${shellWord(facts.passwordFile)})" psql ${bareUrl}`;
      const { logFile: log_file, passwordFile: password_file, ...rest } = facts;
      log.info(
        { ...rest, log_file, password_file, connect_with: psql },
        "the embedded Postgres is up; Ctrl-C ends this command",
      );
      return untilStopped(signal);
    });
  },
};
