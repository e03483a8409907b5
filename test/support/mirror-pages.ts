import { afterAll, beforeAll } from "vitest";
import type { Clock } from "../../src/base/clock.ts";
import { createTestDatabase } from "./database.ts";
import { createReader } from "./roles.ts";
import { servePages } from "./served-pages.ts";

export type MirrorPages = Awaited<ReturnType<typeof openMirrorPages>>;

/**
 * The pages over a mirror of their own, which goes when they close; `sql` is its owner's connection. `fill` writes what the mirror holds before
 * it is served. @default nothing, as before the first sync; `clock` is that of its readers
 */
export async function openMirrorPages(
  fill: (databaseUrl: string) => Promise<void> = async () => {},
  clock?: Clock,
) {
  const database = await createTestDatabase();
  try {
    await fill(database.url);
    const served = await servePages(database.url, undefined, undefined, clock);
    let reader: ReturnType<typeof createReader> | undefined;
    return {
      ...served,
      /** The name of a role that may read the reports, made when it is asked for first. */
      async reader(): Promise<string> {
        reader ??= createReader(database);
        return (await reader).name;
      },
      database,
      databaseUrl: database.url,
      get sql() {
        return database.sql;
      },
      async [Symbol.asyncDispose]() {
        await served[Symbol.asyncDispose]();
        await (await reader)?.[Symbol.asyncDispose]();
        await database.dispose();
      },
    };
  } catch (error) {
    await database.dispose();
    throw error;
  }
}

/** The same for the tests of a file or of a `describe`: opened before them, closed after the last. */
export function usePages(fill?: (databaseUrl: string) => Promise<void>): MirrorPages {
  let pages: MirrorPages;
  beforeAll(async () => {
    pages = await openMirrorPages(fill);
  });
  afterAll(() => pages?.[Symbol.asyncDispose]());
  return new Proxy({} as MirrorPages, { get: (_target, name) => Reflect.get(pages, name) });
}
