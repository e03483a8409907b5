import type { Client } from "../api/client.ts";
import { fetchDetail } from "../api/fetch-detail.ts";
import type { Sql } from "../db/connect.ts";
import type { Patience } from "../db/patience.ts";
import { withStoreErrors } from "../db/store-errors.ts";
import { HttpStatusError, isUpstreamLost, UpstreamError } from "../errors.ts";
import type { Loader } from "../load/loader.ts";
import type { Logger } from "../log.ts";

/** Details asked for in one round at most, the newest builds first. */
const MAX_DETAILS = 500;
const BATCH = 50;

export interface PollOptions {
  sql: Sql;
  client: Client;
  loader: Loader;
  log: Logger;
  signal: AbortSignal;
  /** What to do when the database is away for a moment. @default the round fails */
  patience?: Patience;
}

/**
 * Asks for each build that is not finished by its detail endpoint and loads what came, so that a run that did not walk the
 * whole list still sees builds finish. Returns how many were asked for. A build that does not answer stays as it is; once upstream is lost, so
 * do all that are left.
 */
export async function pollOpenBuilds(options: PollOptions): Promise<number> {
  const { sql, client, loader, log, signal, patience = withStoreErrors } = options;
  const open = await patience(
    "find the open builds",
    () => sql<{ id: string }[]>`
      select id from mirror.builds
      where state is distinct from 'finished' and deleted_at is null
      order by date desc nulls last, id
      limit ${MAX_DETAILS}`,
  );
  let isLost = false;
  let asked = 0;
  while (asked < open.length && !isLost) {
    signal.throwIfAborted();
    const batch = open.slice(asked, asked + BATCH);
    asked += batch.length;
    await Promise.all(
      batch.map(async ({ id }) => {
        try {
          const detail = await fetchDetail(client, "build", id);
          await loader.load({
            resource: "build",
            pages: [{ ...detail, records: [detail.record] }],
            source: "detail",
          });
        } catch (error) {
          if (!(error instanceof UpstreamError)) throw error;
          isLost ||= isUpstreamLost(error);
          const status = error instanceof HttpStatusError ? error.status : null;
          log.warn({ buildId: id, status, error: error.message }, "an open build could not be asked for");
        }
      }),
    );
  }
  return asked;
}
