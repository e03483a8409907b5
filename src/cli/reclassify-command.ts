import { EXIT } from "../base/errors.ts";
import { reclassify } from "../report/refresh/reclassify.ts";
import { withMirror } from "./context/with-mirror.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

export const command: CommandDeclaration<{ dryRun?: true }> = {
  settings: ["database", "reports"],
  exits: ["unprinted"],
  examples: [
    ["reclassify --dry-run", "what the rules of report.error_rules would change"],
    ["reclassify", "applies them to all stored failures; new ones always get the current rules"],
  ],
  hasJson: true,
  flags: (command) => command.option("--dry-run", "count, change nothing"),
  run: (context, { options }) =>
    withMirror(context, async (sql) => {
      const { config, log, out, signal } = context;
      const isDry = options.dryRun === true;
      const classes = await reclassify({ ...config, sql, isDry, signal, log });
      await context.printStored({ dry_run: isDry, classes }, () => {
        if (classes.length === 0) return "there are no failures to classify\n";
        const head = ["class", "before", isDry ? "by the current rules" : "now"];
        const rows = classes.map((one) => [one.class, one.before, one.after]);
        return renderTable({ head, rows }, out);
      });
      return EXIT.done;
    }),
};
