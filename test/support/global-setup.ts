import type { TestProject } from "vitest/node";
import { type DatabaseServer, startDatabaseServer } from "./database-server.ts";
import { findPlantedSecret, PLANTED_LENGTH } from "./planted-secret.ts";

declare module "vitest" {
  interface ProvidedContext {
    databaseServer: DatabaseServer;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const startedAt = performance.now();
  const { description, stop, ...server } = await startDatabaseServer(process.env.TEST_DATABASE_URL);
  process.stderr.write(
    `tests run on ${description}, up in ${Math.round(performance.now() - startedAt)} ms\n`,
  );
  project.provide("databaseServer", server);
  const leak = watchOutput();
  return async () => {
    await stop();
    const around = leak();
    if (around === null) return;
    process.exitCode = 1;
    throw new Error(`the output of the tests has a planted secret: …${around}…`);
  };
}

/** Looks for planted secrets in all that this process prints: the results and what the tests wrote. */
function watchOutput(): () => string | null {
  let around: string | null = null;
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream);
    let kept = "";
    stream.write = ((chunk: Uint8Array | string, ...rest: never[]) => {
      const text = kept + (typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("latin1"));
      around ??= findPlantedSecret(text);
      kept = text.slice(-PLANTED_LENGTH);
      return write(chunk, ...rest);
    }) as typeof stream.write;
  }
  return () => around;
}
