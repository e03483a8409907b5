import type { Command } from "commander";
import type { ConfigError } from "../../base/errors.ts";
import { spellProgram } from "../../base/program.ts";
import { type CommandContext, runCommand } from "../context/run-command.ts";
import type { Output } from "../output/output.ts";
import { createCommand } from "../usage/create-command.ts";
import { checkSettings } from "./check-settings.ts";
import { DATABASE_CHECKS, examineDatabase } from "./examine-database.ts";
import { examineUpstream, UPSTREAM_CHECKS } from "./examine-upstream.ts";
import { exitCodeOfFindings, type Finding, faultOf, findingOf, unknowns } from "./finding.ts";
import { renderFindings } from "./render-findings.ts";

export function doctorCommand(summary: string): Command {
  return createCommand({
    name: "doctor",
    summary,
    settings: [
      "baseUrl",
      "databaseUrl",
      "dataDir",
      "ratePerSecond",
      "timeoutMs",
      "retries",
      "maxBodyBytes",
      "sourceTimezone",
    ],
    examples: [
      ["doctor", "every check, and how to repair each fault; changes nothing"],
      ["doctor --json", "the same as JSON"],
      ["doctor --source-timezone America/Chicago", "tests whether this is the service's time zone"],
    ],
  })
    .option("--json", "print one JSON document")
    .action(
      runCommand<{ json?: true }>(
        async (context, { options }) => print(await examine(context), context.out, options.json),
        // Without settings nothing else can be tested, so their faults are the whole result.
        (error, out, { options }) => print(withoutSettings(error), out, options.json),
      ),
    );
}

/** Makes all checks, even when some fail. Asks the database and the service at the same time. */
async function examine(context: CommandContext): Promise<Finding[]> {
  const settings = await findingOf("settings", context.signal, () => checkSettings(context));
  const [database, upstream] = await Promise.all([examineDatabase(context), examineUpstream(context)]);
  return inOrder([settings, ...database, ...upstream]);
}

function withoutSettings(error: ConfigError): Finding[] {
  const others = unknowns([...DATABASE_CHECKS, ...UPSTREAM_CHECKS], "not tested: repair the settings first");
  return inOrder([{ check: "settings", ...faultOf(error) }, ...others]);
}

/** Two checks of the database come last, because the checks of the service help to understand them. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const isLast = ({ check }: Finding) => check === "mirror" || check === "time zone";
  return [...findings.filter((finding) => !isLast(finding)), ...findings.filter(isLast)];
}

async function print(found: readonly Finding[], out: Output, isJson = false): Promise<number> {
  const exitCode = exitCodeOfFindings(found);
  const checks = found.map(({ check, status, finding, repair }) => {
    return { check, status, finding: spellProgram(finding), repair: repair ? spellProgram(repair) : null };
  });
  if (isJson) await out.json({ exit_code: exitCode, checks });
  else await out.write(renderFindings(checks, out));
  return exitCode;
}
