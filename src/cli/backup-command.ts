import { resolve } from "node:path";
import { EXIT } from "../base/errors.ts";
import { counted, grouped, sized } from "../base/text.ts";
import { readDefinitions } from "../report/definitions.ts";
import { backUpIntoFolder } from "../store/backup/backup-folder.ts";
import { type BackupOptions, writeBackup } from "../store/backup/write-backup.ts";
import { withNote } from "../store/ledger/jobs.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { wholeFrom } from "./usage/flag-values.ts";

export const command: CommandDeclaration<{ keep?: number }> = {
  settings: ["database"],
  exits: ["unprinted"],
  examples: [
    ["backup /backups/docmirror.backup", "all as of one moment, read back; replaces the last backup there"],
    ["backup /backups --keep 14", "adds one to a folder, then removes old ones; for timers"],
    ["backup docmirror.backup --json", "the same; prints what is in it as JSON"],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .argument(
        "<file>",
        "the file to write; an earlier backup there is replaced once the new one is whole. With --keep, a folder",
      )
      .option(
        "--keep <number>",
        "keep so many of the newest backups in the folder, and the first one of each of the last twelve months",
        wholeFrom(1, 10_000),
      ),
  run: (context, { args: [file = ""], options: { keep } }) =>
    withMirror(context, async (sql) => {
      const { clock, log, signal } = context;
      const progress = await context.progress();
      const options: Omit<BackupOptions, "file"> = {
        sql,
        definitions: readDefinitions(),
        signal,
        onProgress: (phase, records, totalCount) => {
          const [name, doing] = DOING[phase];
          progress.update(name, { records, totalCount, doing });
        },
      };
      const { what, removed, left, header, rows, bytes } =
        keep === undefined
          ? { ...(await writeBackup({ ...options, file })), what: file, removed: null, left: [] }
          : await withNote({ sql, clock, log, signal }, "backup", () =>
              backUpIntoFolder({ ...options, folder: resolve(file), keep, now: clock.now() }),
            );
      progress.stop();
      if (left.length > 0) log.warn({ left }, "could not remove old backups");
      const { taken_at, version } = header;
      const document = { file: what, bytes, taken_at, version, rows, ...(removed && { removed }) };
      await context.printStored(document, () => {
        const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
        const gone = removed && removed.length > 0 ? `; removed ${counted(removed.length, "older one")}` : "";
        return `${what}: ${grouped(all)} rows as of ${taken_at}, ${sized(bytes)}, read back${gone}\n`;
      });
      return EXIT.done;
    }),
};

const DOING = { write: ["written", "backing up"], check: ["read back", "reading the backup back"] } as const;
