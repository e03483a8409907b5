import { ConfigError, EXIT } from "../../base/errors.ts";
import { FILTER_NAMES, filtersOf } from "../../report/ask.ts";
import { DICTIONARY, RELATIONS } from "../../report/dictionary.ts";
import type { AnswerFilters } from "../../report/question.ts";
import { breakLines } from "../output/break-lines.ts";
import { type Output, textColumns } from "../output/output.ts";
import { createAnswerWriter, type Format } from "./answer-writer.ts";

/** Lists all reports. It needs no database: the names are part of the program. */
export async function listReports(out: Output, format: Format, filters: AnswerFilters): Promise<number> {
  const given = FILTER_NAMES.filter((name) => filters[name] !== undefined);
  if (given.length > 0) {
    throw new ConfigError(`--${given.join(", --")} ${given.length > 1 ? "are" : "is"} for one report`, {
      hint: "name it, as in: `docmirror report success_rate_daily --since 2026-11-01`",
    });
  }
  const rows = RELATIONS.map((relation) => {
    const { answers } = DICTIONARY[relation];
    return [relation, answers, filtersOf(relation).join(", ")];
  });
  if (format === "table") {
    const columns = textColumns(out) - 2;
    for (const [relation = "", answers = ""] of rows) {
      await out.write(`${relation}\n  ${breakLines(answers, columns).join("\n  ")}\n`);
    }
    return EXIT.done;
  }
  const writer = createAnswerWriter(format, { columns: ["report", "answers", "filters"], facts: {} }, out);
  await writer.begin();
  await writer.write(rows);
  await writer.end();
  return EXIT.done;
}
