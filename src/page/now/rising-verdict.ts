import { counted } from "../../base/text.ts";
import { beforeWords, type RisingLine, risingWords, sayingOf } from "../parts/rising-lines.ts";

/** That one error line rose today in many projects: the cause of most of what broke. Null where none did. */
export function judgeRising(rising: readonly RisingLine[], broke: number, now: Date) {
  const [first] = rising;
  if (first === undefined) return null;
  const more =
    rising.length === 1 ? "" : ` ${counted(rising.length - 1, "other line rises", "other lines rise")} too.`;
  return {
    kind: "rising" as const,
    tone: "bad" as const,
    title: `↑ ${sayingOf(first.line, 40)} hit ${counted(first.projects, "project")}`,
    sentence: `${risingWords(first, now)}.`.replaceAll("{newest}", ""),
    evidence: `${beforeWords(first)}${more} ${counted(broke, "project")} broke in the last 24 hours, of whatever error.`,
  };
}
