import type { TestProject } from "vitest/node";
import { type DatabaseServer, startDatabaseServer } from "./database-server.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseServer: DatabaseServer;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  const { adminUrl, template, strategy, description, stop } = await startDatabaseServer(
    process.env.TEST_DATABASE_URL,
  );
  process.stderr.write(
    `tests run on ${description}, up in ${Math.round(performance.now() - startedAt)} ms\n`,
  );
  project.provide("databaseServer", { adminUrl, template, strategy });
  return stop;
}
