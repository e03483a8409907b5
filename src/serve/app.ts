import { Hono } from "hono";

/**
 * One app of several, each with paths of its own. They are asked in their order, so the pages, which have an
 * answer for every path, come last.
 */
export function createApp(parts: readonly Hono[]): Hono {
  const app = new Hono();
  for (const part of parts) app.route("/", part);
  return app;
}
