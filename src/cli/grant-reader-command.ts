import { EXIT } from "../base/errors.ts";
import { grantReader, planReaderGrant } from "../report/grant-reader.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";

interface Options {
  withPeople?: true;
  interface?: true;
  dryRun?: true;
}

export const command: CommandDeclaration<Options> = {
  settings: ["database"],
  exits: ["unprinted"],
  examples: [
    ["grant-reader metabase", "a role for a BI tool; created where it is missing; safe to repeat"],
    ["grant-reader metabase --dry-run > reader.sql", "the SQL, for someone who may run it"],
    ["grant-reader support --with-people", "users' names and logins too"],
    ["grant-reader docmirror_serve --interface", "a role for `docmirror serve`, which only reads"],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .argument("<role>", "the role that gets the rights, spelled as Postgres stores it")
      .option("--with-people", "users' names and logins too; without this flag a role loses that right")
      .option(
        "--interface",
        "all that `docmirror serve` reads: the mirrored records too, with users' names and logins",
      )
      .option("--dry-run", "print the SQL that would run, change nothing"),
  run: async (context, { options, args: [role = ""] }) => {
    const { log, print, printStored } = context;
    const isDry = options.dryRun === true;
    const grant = await withMirror(context, async (sql) => {
      const planned = await planReaderGrant(sql, role, {
        withPeople: options.withPeople === true,
        withInterface: options.interface === true,
      });
      if (!isDry) await grantReader(sql, planned);
      return planned;
    });
    const { isNew, withPeople, withInterface, statements, warnings } = grant;
    const rights = { with_people: withPeople, with_interface: withInterface };
    await (isDry ? print : printStored)(
      { role, is_new: isNew, ...rights, dry_run: isDry, statements, warnings },
      () => {
        if (isDry) return statements.map((statement) => `${statement};\n`).join("");
        const schemas = withPeople ? "the schemas report and report_people" : "the schema report";
        const records = withInterface ? " and the records of the interface" : "";
        return `${role}${isNew ? ", a new role," : ""} can read ${schemas}${records}\n`;
      },
    );
    for (const warning of warnings) log.warn({ role, warning }, "the role can do more than read");
    if (isNew && !isDry)
      log.info({ role }, "the role has no password yet: give it one in psql with \\password");
    return EXIT.done;
  },
};
