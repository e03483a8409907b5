import type { Command } from "commander";
import type { ConfigError } from "../errors.ts";
import { createCommand } from "./create-command.ts";
import { checkSettings } from "./doctor/check-settings.ts";
import { DATABASE_CHECKS, examineDatabase } from "./doctor/examine-database.ts";
import { examineUpstream, UPSTREAM_CHECKS } from "./doctor/examine-upstream.ts";
import { exitCodeOf, type Finding, findingOf, unknowns } from "./doctor/finding.ts";
import { renderFindings } from "./doctor/render-findings.ts";
import type { Output } from "./output.ts";
import { type CommandContext, runCommand } from "./run-command.ts";

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
      ["doctor", "every check, and how to mend what is wrong; changes nothing"],
      ["doctor --json", "the same as JSON"],
      ["doctor --source-timezone America/Chicago", "would this be the service's time zone?"],
    ],
  })
    .option("--json", "print one JSON document")
    .action(
      runCommand<Options>(
        async (context, { options }) => tell(await examine(context), context.out, options),
        {
          // Without settings nothing else can be tested, but what is wrong with them is what was asked for.
          onConfigError: (error, out, { options }) => tell(withoutSettings(error), out, options),
        },
      ),
    );
}

/** All checks, whatever fails among them. The database and the service are asked at once. */
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
    ...(hint !== undefined && { mend: hint }),
    exitCode,
  };
  return inOrder([
    settings,
    ...unknowns([...DATABASE_CHECKS, ...UPSTREAM_CHECKS], "not tested: the settings come first"),
  ]);
}

/** The checks that the service's answers explain come last. */
function inOrder(findings: readonly Finding[]): Finding[] {
  const isLast = ({ check }: Finding) => check === "mirror" || check === "time zone";
  return [...findings.filter((finding) => !isLast(finding)), ...findings.filter(isLast)];
}

async function tell(findings: readonly Finding[], out: Output, options: Options): Promise<number> {
  const exitCode = exitCodeOf(findings);
  if (options.json) {
    const checks = findings.map(({ check, status, finding, mend }) => ({
      check,
      status,
      finding,
      mend: mend ?? null,
    }));
    await out.json({ exit_code: exitCode, checks });
  } else await out.write(renderFindings(findings, out));
  return exitCode;
}
