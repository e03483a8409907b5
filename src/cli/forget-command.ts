import { Argument } from "commander";
import { ConfigError, EXIT } from "../base/errors.ts";
import { counted } from "../base/text.ts";
import { type Forgotten, forgetUser } from "../mirror/run/forget-user.ts";
import { tryRefresh } from "../report/refresh/refresh.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

interface Options {
  dryRun?: true;
  force?: true;
  texts?: true;
}

export const command: CommandDeclaration<Options> = {
  settings: ["database", "reports"],
  exits: ["notFound", "unprinted"],
  examples: [
    ["forget user jane --dry-run", "counts what names the user, present and former names"],
    ["forget user jane --texts", "removes it from records, history, references, notices and logs"],
  ],
  words: { what: ["user"] },
  hasJson: true,
  flags: (command) =>
    command
      .addArgument(new Argument("<what>", "what to forget: user").argParser(parseForgotten))
      .argument("<name>", "a username, the present or a former one, or the id of the user")
      .option("--texts", "replace the names in logs too, which reads all of them")
      .option("--force", "also a user that the service still shows; the next full walk reads it again")
      .option("--dry-run", "count, change nothing"),
  run: (context, { args: [, name = ""], options }) =>
    withMirror(context, async (sql, { describe }) => {
      const { config, log, signal } = context;
      const isDry = options.dryRun === true;
      const flags = { isDry, isForced: options.force === true, inTexts: options.texts === true };
      const forgotten = await forgetUser({ sql, name, ...flags, signal });
      if (!isDry) await tryRefresh(sql, { ...config, signal }, log);
      await context.printStored({ database: describe, dry_run: isDry, ...forgotten }, () =>
        render(forgotten, isDry),
      );
      return EXIT.done;
    }),
};

function parseForgotten(text: string): "user" {
  if (text === "user") return text;
  throw new ConfigError(`Only a user can be forgotten, not a ${text}`, {
    hint: "as in: `docmirror forget user jane`",
  });
}

function render(
  { users, shown, changes, references, quarantine, notices, logs }: Forgotten,
  isDry: boolean,
): string {
  const found = [
    counted(users.length, "record"),
    counted(changes, "change"),
    counted(references, "reference"),
    `${counted(quarantine, "record")} in quarantine`,
    counted(notices, "notice"),
    ...(logs === null ? [] : [counted(logs, "log")]),
  ].join(", ");
  const lines = [
    `${isDry ? "would forget" : "forgot"} user ${users.join(", ")}: ${found}`,
    ...(logs === null ? ["logs were not searched: --texts does"] : []),
    ...(shown.length > 0
      ? [`the service still shows user ${shown.join(", ")}: the next full walk reads it again`]
      : []),
    "backups, exports, written pages and delivered notices from before still have the names: make a new backup, then remove the older files",
  ];
  return `${lines.join("\n")}\n`;
}
