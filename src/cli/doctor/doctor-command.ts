import { isLoopback, maskUrl } from "../../base/config/addresses.ts";
import { spellProgram } from "../../base/config/program.ts";
import { findProxyRoute, type ProxyRoute, showProxy } from "../../base/config/proxies.ts";
import { SETTINGS } from "../../base/config/settings.ts";
import { requireBaseUrl } from "../../base/config.ts";
import type { ConfigError } from "../../base/errors.ts";
import { counted } from "../../base/text.ts";
import type { CommandContext } from "../context/run-command.ts";
import { breakLines, type Look, styled } from "../output/output.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { DATABASE_CHECKS, examineDatabase } from "./examine-database.ts";
import { examineUpstream, UPSTREAM_CHECKS } from "./examine-upstream.ts";
import {
  exitCodeOfFindings,
  type Finding,
  faultOf,
  findingOf,
  ok,
  type Result,
  unknowns,
  warning,
} from "./finding.ts";

export const command: CommandDeclaration = {
  settings: ["requests", "database", "sourceTimezone", "staleAfterMs", "databaseLimitBytes"],
  examples: [
    ["doctor", "every check, and how to repair each fault; changes nothing"],
    ["doctor --json", "the same as JSON"],
    ["doctor --source-timezone America/Chicago", "tests whether this is the service's time zone"],
  ],
  hasJson: true,
  run: async (context) => show(await examine(context), context),
  // Without settings nothing else can be tested, so their faults are the whole result.
  onConfigError: (error, context) => show(withoutSettings(error), context),
};

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

async function show(found: readonly Finding[], { out, print }: Pick<CommandContext, "out" | "print">) {
  const exitCode = exitCodeOfFindings(found);
  const checks = found.map(({ check, status, finding, repair }) => {
    return { check, status, finding: spellProgram(finding), repair: repair ? spellProgram(repair) : null };
  });
  await print({ exit_code: exitCode, checks }, () => renderFindings(checks, out));
  return exitCode;
}

/** Checks that there is a service to ask, and how it is reached. The settings themselves were parsed before. */
export function checkSettings({ config, settings }: Pick<CommandContext, "config" | "settings">): Result {
  const baseUrl = requireBaseUrl(config);
  const way = wayOf(findProxyRoute(baseUrl, config.proxies));
  if (config.ratePerSecond === 0 && !isLoopback(baseUrl.hostname)) {
    return warning(
      `DOCMIRROR_RATE is 0: requests are sent as fast as the service answers, ${way}`,
      `set it to what the service allows; the default is ${SETTINGS.ratePerSecond.default} requests a second`,
    );
  }
  if (config.contact === null && !isLoopback(baseUrl.hostname)) {
    return warning(
      `DOCMIRROR_CONTACT is not set, so nobody at the service can ask you to change something; it is asked ${way}`,
      "set it to an e-mail address or a URL: it is sent with each request, and some services refuse who gives none",
    );
  }
  const given = settings.filter(({ source }) => source !== "default").length;
  const source = settings.find(({ key }) => key === "baseUrl")?.source ?? "default";
  return ok(
    `all can be used, ${given} of ${settings.length} are not the default; ` +
      `the service is ${maskUrl(baseUrl.href)} (${source}), asked ${way}`,
  );
}

function wayOf({ proxy, because }: ProxyRoute): string {
  return proxy === null ? `directly: ${because}` : `through the proxy ${showProxy(proxy)} (${because})`;
}

const MARKS = {
  ok: ["✓", "green"],
  warning: ["!", "yellow"],
  fault: ["✗", "red"],
  unknown: ["?", "dim"],
} as const satisfies Record<Finding["status"], unknown>;
/** Where texts would be narrower than this, the terminal breaks the lines. */
const LEAST_TEXT_WIDTH = 30;

/**
 * Renders each finding on one line and its repair on another, aligned; ends with a newline. The status is
 * shown as a word too. Lines are broken to fit `columns`, and not at all without a terminal.
 */
export function renderFindings(findings: readonly Finding[], look: Look): string {
  const statusWidth = Math.max(...Object.keys(MARKS).map((status) => status.length));
  const checkWidth = Math.max(...findings.map(({ check }) => check.length));
  const indent = " ".repeat(2 + statusWidth + 2 + checkWidth + 2);
  const lines = findings.flatMap(({ check, status, finding, repair }) => {
    const [mark, format] = MARKS[status];
    const word = styled(format, `${mark} ${status.padEnd(statusWidth)}`, look);
    const head = `${word}  ${check.padEnd(checkWidth)}  `;
    const width = (look.columns ?? Infinity) - indent.length;
    const text = [...indented(finding, "", width), ...(repair ? indented(repair, "→ ", width) : [])];
    return text.map((line, index) => (index === 0 ? head : indent) + line);
  });
  return `${lines.join("\n")}\n\n${summarize(findings)}\n`;
}

/** The lines of a text, indented to where its first line begins. */
function indented(text: string, start: string, width: number): string[] {
  const textWidth = width - start.length;
  const lines = breakLines(text, textWidth < LEAST_TEXT_WIDTH ? Infinity : textWidth);
  return lines.map((line, index) => (index === 0 ? start : " ".repeat(start.length)) + line);
}

function summarize(findings: readonly Finding[]): string {
  const count = (wanted: Finding["status"]) => findings.filter(({ status }) => status === wanted).length;
  const [faults, warnings, unknowns] = [count("fault"), count("warning"), count("unknown")];
  const parts = [
    faults === 0 ? "no fault" : counted(faults, "fault"),
    ...(warnings > 0 ? [counted(warnings, "warning")] : []),
    ...(unknowns > 0 ? [`${unknowns} not tested`] : []),
  ];
  return parts.join(", ");
}
