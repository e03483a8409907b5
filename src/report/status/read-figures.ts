import { Counter, Gauge, Registry } from "prom-client";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";
import { findCertificateEnd } from "../../store/connection/connect.ts";
import type { Sql } from "../../store/connection/sql.ts";
import { sqlstateOf } from "../../store/connection/store-errors.ts";
import { withSnapshot } from "../read-answer.ts";
import { FIGURE_METRICS, type FigureRow, type FiguresOptions, findFigures } from "./figures.ts";

/**
 * A registry with what the database says, made anew for each scrape, so that a value that is not known any more is absent,
 * and never the last one that was. Without figures it has `docmirror_database_up` alone.
 */
export function createFigureRegistry(isUp: boolean, figures: readonly FigureRow[] | null): Registry {
  const registry = new Registry();
  const registers = [registry];
  const up = { name: "docmirror_database_up", help: "1 while the database answers, else 0." };
  new Gauge({ ...up, registers }).set(Number(isUp));
  if (figures === null) return registry;
  for (const { name, type, help, labels } of FIGURE_METRICS) {
    const samples = figures.flatMap((row) => samplesOf(row, name, labels));
    // A metric without labels would begin at 0.
    if (samples.length === 0) continue;
    const facts = { name, help, labelNames: labels, registers };
    const metric = type === "gauge" ? new Gauge(facts) : new Counter(facts);
    for (const [labelled, value] of samples) metric.inc(labelled, value);
  }
  return registry;
}

function samplesOf(row: FigureRow, name: string, labels: readonly string[]) {
  const value = row[name] ?? null;
  if (value === null) return [];
  const own = Object.fromEntries(
    labels.flatMap((label) => (label in row ? [[label, String(row[label])]] : [])),
  );
  if (typeof value !== "object") return [[own, Number(value)] as const];
  const last = labels.at(-1) ?? "";
  return Object.entries(value).map(([label, one]) => [{ ...own, [last]: label }, one] as const);
}

/** A right or a table is missing: the database answers, but not with figures. */
const REFUSED = /^42/;

/**
 * Makes a function that gives the registry of what the database says at one moment: without figures where it is away, or
 * refuses to tell. It never rejects. `read` must end in time.
 */
export function createReadFigures(
  read: <T>(fn: (sql: Sql) => Promise<T>) => Promise<T>,
  options: FiguresOptions,
  log: Logger,
): () => Promise<Registry> {
  let lastTrouble: string | null = null;

  return async () => {
    try {
      const figures = await read((sql) =>
        withSnapshot(sql, (tx) => {
          const databaseCertificateEnd = findCertificateEnd(sql);
          return findFigures(tx, { ...options, databaseCertificateEnd });
        }),
      );
      lastTrouble = null;
      return createFigureRegistry(true, figures);
    } catch (error) {
      const trouble = messageOf(error);
      // A scrape comes every few seconds, so the same trouble is told once.
      if (trouble !== lastTrouble) log.warn({ error: trouble }, "could not read the figures for the metrics");
      lastTrouble = trouble;
      return createFigureRegistry(REFUSED.test(sqlstateOf(error) ?? ""), null);
    }
  };
}
