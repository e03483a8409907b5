import { Hono } from "hono";

/**
 * Joins several apps, each with its own paths. They are tried in their order, so the pages, which answer
 * every path, come last.
 */
export function createApp(parts: readonly Hono[]): Hono {
  const app = new Hono();
  for (const part of parts) app.route("/", part);
  return app;
}
