import type { Clock } from "../base/clock.ts";
import type { Proxies } from "../base/config/proxies.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/log.ts";
import { withSql } from "../store/connection/connect.ts";
import { collectNotices } from "./collect.ts";
import { type Delivered, deliverNotices } from "./deliver.ts";
import { createReceiver } from "./receiver.ts";
import type { Webhook } from "./webhook.ts";

export interface NotifyOptions {
  databaseUrl: string;
  webhook: Webhook;
  staleAfterMs: number;
  proxies?: Proxies | undefined;
  /** No try begins later than this after the start of the delivery. A try lasts 15 s at most. */
  beginWithinMs: number;
  clock: Clock;
  log: Logger;
  signal: AbortSignal;
}

/** One round: notes what is news, then sends what is due. Throws `StoreError`, and the signal's reason. */
export async function notify(options: NotifyOptions): Promise<Delivered> {
  const { databaseUrl, webhook, clock, log, signal } = options;
  const { url, key, format } = webhook;
  const receiver = createReceiver({ url, key, format, proxies: options.proxies, clock });
  try {
    return await withSql(databaseUrl, { applicationName: "docmirror notify", max: 1 }, async (sql) => {
      try {
        const settings = { staleAfterMs: options.staleAfterMs, now: clock.now().toISOString() };
        const { noted, begun } = await collectNotices(sql, settings, webhook.wanted, signal);
        if (begun.length > 0)
          log.info({ sources: begun }, "notices begin here: what happened before is not news");
        if (noted > 0) log.info({ notices: noted }, "noted what needs attention");
      } catch (error) {
        signal.throwIfAborted();
        // What was noted before is still sent.
        log.error({ error: messageOf(error) }, "could not look for notices; the next round looks again");
      }
      return deliverNotices({ sql, receiver, beginWithinMs: options.beginWithinMs, log, signal });
    });
  } finally {
    await receiver.close();
  }
}
