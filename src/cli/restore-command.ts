import { EXIT } from "../base/errors.ts";
import { grouped } from "../base/text.ts";
import { readDefinitions } from "../report/definitions.ts";
import { tryRefresh } from "../report/refresh/refresh.ts";
import { checkBackup } from "../store/backup/read-backup.ts";
import { countMigrations, restoreBackup } from "../store/backup/restore-backup.ts";
import { withSql } from "../store/connection/connect.ts";
import { mirrorPlace, withDatabase } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

export const command: CommandDeclaration = {
  settings: ["database", "reports"],
  exits: ["locked", "unprinted"],
  examples: [
    ["restore docmirror.backup --data-dir restored", "into a new embedded Postgres; all or nothing"],
    ["restore docmirror.backup", "into the database of DATABASE_URL, which must have no records and runs"],
  ],
  hasJson: true,
  flags: (command) =>
    command.argument("<file>", "a file that `docmirror backup` wrote, with this version or an older one"),
  run: async (context, { args: [file = ""] }) => {
    const { config, signal, log, printStored } = context;
    const progress = await context.progress();
    // The whole file, before anything is made: most files that cannot be restored are found here.
    const { header, rows } = await checkBackup(file, {
      signal,
      onRows: (records) =>
        progress.update("checked", { records, totalCount: null, doing: "checking the backup" }),
    });
    countMigrations(header, file);
    const totalCount = Object.values(rows).reduce((sum, count) => sum + count, 0);
    await withDatabase(context, async ({ url }) => {
      const place = mirrorPlace(config);
      const onRows = (records: number) =>
        progress.update("restored", { records, totalCount, doing: "restoring" });
      await withSql(url, { applicationName: "docmirror restore", max: 1 }, (sql) =>
        restoreBackup({ sql, definitions: readDefinitions(), file, place, signal, onRows }),
      );
      progress.stop();
      // The answers came with the backup. Only a later version, or another zone, computes them anew.
      await withSql(url, { applicationName: "docmirror restore", max: 1, log }, (sql) =>
        tryRefresh(sql, { ...config, keepsSettings: true, signal }, log),
      );
      const { taken_at, version } = header;
      await printStored(
        { file, place, taken_at, version, rows },
        () =>
          `${grouped(totalCount)} rows as of ${taken_at} are in ${place}; \`docmirror sync --full\` finds what is newer\n`,
      );
    });
    return EXIT.done;
  },
};
