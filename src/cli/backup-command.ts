import { EXIT } from "../base/errors.ts";
import { grouped } from "../base/text.ts";
import { readDefinitions } from "../report/definitions.ts";
import { writeBackup } from "../store/backup/write-backup.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

export const backupCommand: CommandDeclaration = {
  settings: ["database"],
  exits: ["unprinted"],
  examples: [
    ["backup /backups/docmirror.backup", "all as of one moment, read back; replaces the last backup there"],
    ["backup docmirror.backup --json", "the same; prints what is in it as JSON"],
  ],
  flags: (command) =>
    command
      .argument("<file>", "the file to write; an earlier backup there is replaced once the new one is whole")
      .option("--json", "print one JSON document"),
  run: (context, { args: [file = ""] }) =>
    withMirror(context, "backup", async (sql) => {
      const progress = await context.progress();
      const { header, rows, bytes } = await writeBackup({
        sql,
        definitions: readDefinitions(),
        file,
        signal: context.signal,
        onProgress: (phase, records, totalCount) => {
          const [name, doing] = DOING[phase];
          progress.update(name, { records, totalCount, doing });
        },
      });
      progress.stop();
      const { taken_at, version } = header;
      await context.printStored({ file, bytes, taken_at, version, rows }, () => {
        const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
        return `${file}: ${grouped(all)} rows as of ${taken_at}, ${(bytes / 1e6).toFixed(1)} MB, read back\n`;
      });
      return EXIT.done;
    }),
};

const DOING = { write: ["written", "backing up"], check: ["read back", "reading the backup back"] } as const;
