import { Hono } from "hono";
import type { Registry } from "prom-client";
import { createFigureRegistry } from "../../base/metrics/figures.ts";
import type { FiguresReading } from "../../report/status/read-figures.ts";
import { createBriefAnswer } from "./brief-answer.ts";
import { readOnly } from "./request-bounds.ts";

/** However many scrape, the database is asked this often at most. */
const KEEP_MS = 3000;
const PATH = "/metrics";

export interface MetricsDeps {
  /** What this process counts. */
  registry: Registry;
  /** What the database says. Never rejects. */
  readFigures(): Promise<FiguresReading>;
  /** How long the figures are given again, in milliseconds. @default 3000 */
  keepMs?: number;
}

/** Answers `/metrics` for Prometheus: 200 also while the database is away, then without what comes from it. */
export function createMetricsRoute({ registry, readFigures, keepMs = KEEP_MS }: MetricsDeps): Hono {
  const readOnce = createBriefAnswer(readFigures, keepMs);
  const app = new Hono();
  app.use(PATH, readOnly());
  app.get(PATH, async (c) => {
    const { isUp, figures } = await readOnce();
    const texts = await Promise.all([createFigureRegistry(isUp, figures).metrics(), registry.metrics()]);
    const headers = { "content-type": registry.contentType, "cache-control": "no-store" };
    return c.body(texts.join("\n"), 200, headers);
  });
  return app;
}
