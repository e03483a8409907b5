import type { Command } from "commander";
import { spellProgram } from "../../base/config/program.ts";
import type { ConfigError } from "../../base/errors.ts";
import { type CommandContext, runCommand } from "../context/run-command.ts";
import type { Output } from "../output/output.ts";
import { createCommand } from "../usage/create-command.ts";
import { checkSettings } from "./check-settings.ts";
import { DATABASE_CHECKS, examineDatabase } from "./examine-database.ts";
import { examineUpstream, UPSTREAM_CHECKS } from "./examine-upstream.ts";
import { exitCodeOfFindings, type Finding, findingOf, unknowns } from "./finding.ts";
import { renderFindings } from "./render-findings.ts";

interface Options {
  json?: true;
}

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
      runCommand<Options>(
        async (context, { options }) => print(await examine(context), context.out, options),
        {
          // Without settings nothing else can be tested, so their faults are the whole result.
          onConfigError: (error, out, { options }) => print(withoutSettings(error), out, options),
        },
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
  const { message, hint, exitCode } = error;
  const settings: Finding = {
    check: "settings",
    status: "fault",
    finding: message,
    ...(hint !== undefined && { repair: hint }),
    exitCode,
  };
  return inOrder([
    settings,
    ...unknowns([...DATABASE_CHECKS, ...UPSTREAM_CHECKS], "not tested: repair the settings first"),
  ]);
}

/** Two checks of the database come last, because the checks of the service help to understand them. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const isLast = ({ check }: Finding) => check === "mirror" || check === "time zone";
  return [...findings.filter((finding) => !isLast(finding)), ...findings.filter(isLast)];
}

function spelled(finding: Finding): Finding {
  const { repair } = finding;
  return {
    ...finding,
    finding: spellProgram(finding.finding),
    ...(repair !== undefined && { repair: spellProgram(repair) }),
  };
}

async function print(found: readonly Finding[], out: Output, options: Options): Promise<number> {
  const findings = found.map(spelled);
  const exitCode = exitCodeOfFindings(findings);
  if (options.json) {
    const checks = findings.map(({ check, status, finding, repair }) => ({
      check,
      status,
      finding,
      repair: repair ?? null,
    }));
    await out.json({ exit_code: exitCode, checks });
  } else await out.write(renderFindings(findings, out));
  return exitCode;
}
