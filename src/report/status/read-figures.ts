import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import type { Figures } from "../../base/metrics/figures.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { sqlstateOf } from "../../store/connection/store-errors.ts";
import { withSnapshot } from "../read-answer.ts";
import { type FiguresOptions, findFigures } from "./find-figures.ts";

/** A right or a table is missing: the database answers, but not with figures. */
const REFUSED = /^42/;

/** What the database says now. `figures` is null when it is away, or refuses to tell. */
export interface FiguresReading {
  isUp: boolean;
  figures: Figures | null;
}

/** Makes a function that reads the figures of one moment. It never rejects. `read` must end in time. */
export function createReadFigures({
  read,
  options,
  log,
}: {
  read<T>(fn: (sql: Sql) => Promise<T>): Promise<T>;
  options: FiguresOptions;
  log: Logger;
}): () => Promise<FiguresReading> {
  let lastTrouble: string | null = null;

  return async () => {
    try {
      const figures = await read((sql) => withSnapshot(sql, (tx) => findFigures(tx, options)));
      lastTrouble = null;
      return { isUp: true, figures };
    } catch (error) {
      const trouble = messageOf(error);
      // A scrape comes every few seconds, so the same trouble is told once.
      if (trouble !== lastTrouble) log.warn({ error: trouble }, "could not read the figures for the metrics");
      lastTrouble = trouble;
      return { isUp: REFUSED.test(sqlstateOf(error) ?? ""), figures: null };
    }
  };
}
