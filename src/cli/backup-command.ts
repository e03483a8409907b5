import { EXIT } from "../base/errors.ts";
import { readDefinitions } from "../report/definitions.ts";
import { type WrittenBackup, writeBackup } from "../store/backup/write-backup.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

interface Options {
  json?: true;
}

export const backupCommand: CommandDeclaration<Options> = {
  settings: ["database"],
  examples: [
    ["backup /backups/docmirror.backup", "all as of one moment, read back; replaces the last backup there"],
    ["backup docmirror.backup --json", "the same; prints what is in it as JSON"],
  ],
  flags: (command) =>
    command
      .argument("<file>", "the file to write; an earlier backup there is replaced once the new one is whole")
      .option("--json", "print one JSON document"),
  run: (context, { options, args: [file = ""] }) =>
    withMirror(context, "backup", async (sql) => {
      const { signal, out } = context;
      const progress = await context.progress();
      const backup = await writeBackup({
        sql,
        definitions: readDefinitions(),
        file,
        signal,
        onProgress: (phase, records, totalCount) => {
          const [name, doing] = DOING[phase];
          progress.update(name, { records, totalCount, doing });
        },
      });
      progress.stop();
      if (options.json) await out.json(asJson(file, backup));
      else await out.write(render(file, backup));
      return EXIT.done;
    }),
};

const DOING = { write: ["written", "backing up"], check: ["read back", "reading the backup back"] } as const;

function asJson(file: string, { header, rows, bytes }: WrittenBackup) {
  return { file, bytes, taken_at: header.taken_at, version: header.version, rows };
}

function render(file: string, { header, rows, bytes }: WrittenBackup): string {
  const all = Object.values(rows).reduce((sum, count) => sum + count, 0);
  const megabytes = (bytes / 1e6).toFixed(1);
  return `${file}: ${all.toLocaleString("en-US")} rows as of ${header.taken_at}, ${megabytes} MB, read back\n`;
}
