import { Hono } from "hono";
import type { Registry } from "prom-client";
import { createFigureRegistry } from "../metrics/figures.ts";
import type { FiguresReading } from "../status/figures-reader.ts";

const METHODS = "GET, HEAD";

export interface MetricsDeps {
  /** What this process counts. */
  registry: Registry;
  /** What the database says. Never rejects. */
  readFigures(): Promise<FiguresReading>;
}

/**
 * Answers `/metrics` in the text format of Prometheus. The status is 200 also while the database is away: then
 * `docmirror_database_up` is 0, and what comes from the database is absent.
 */
export function createMetricsRoute({ registry, readFigures }: MetricsDeps): Hono {
  const app = new Hono();
  app.all("/metrics", async (c) => {
    if (!["GET", "HEAD"].includes(c.req.method)) return c.body(null, 405, { allow: METHODS });
    const { isUp, figures } = await readFigures();
    const texts = await Promise.all([createFigureRegistry(isUp, figures).metrics(), registry.metrics()]);
    return c.body(texts.join("\n"), 200, {
      "content-type": registry.contentType,
      "cache-control": "no-store",
    });
  });
  return app;
}
