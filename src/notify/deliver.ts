import type { Logger } from "../base/log.ts";
import type { Sql } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { claimNotice, clearOutbox, markDelivered, markFailed } from "./outbox.ts";
import type { Receiver } from "./receiver.ts";

/** In one round, so that it ends. */
const MOST_SENT = 100;
/** The notices of a round have one receiver: after so many failures it is down, and the next round tries again. */
const MOST_FAILED = 4;

const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;

export interface DeliveryOptions {
  sql: Sql;
  receiver: Receiver;
  /** No try begins later than this after the start. One that has begun may last 15 s. */
  beginWithinMs: number;
  log: Logger;
  signal: AbortSignal;
}

/** How many notices were sent, and how many tries failed. */
export interface Delivered {
  delivered: number;
  failed: number;
}

/**
 * Sends the notices that are due, one after the other, oldest first. A failed one is tried again later. A try whose result
 * could not be stored is repeated, with the same id. Throws `StoreError`, and the signal's reason.
 */
export async function deliverNotices(options: DeliveryOptions): Promise<Delivered> {
  const { sql, receiver, beginWithinMs, log, signal } = options;
  const until = performance.now() + beginWithinMs;
  const counts = { delivered: 0, failed: 0 };
  return withStoreErrors("deliver notices", async () => {
    const old = await clearOutbox(sql);
    if (old > 0) log.error({ notices: old }, "gave up notices that waited too long");
    for (let sent = 0; sent < MOST_SENT && counts.failed < MOST_FAILED && performance.now() < until; sent++) {
      signal.throwIfAborted();
      const notice = await claimNotice(sql);
      if (notice === null) break;
      const { error, isGone, retryAfterMs } = await receiver.send(notice, signal);
      const { noticeId, id, type, tries } = notice;
      const facts = { notice_id: noticeId, message_id: id, type, tries };
      if (error === null) {
        await markDelivered(sql, notice);
        counts.delivered++;
        log.info(facts, "notice delivered");
        continue;
      }
      counts.failed++;
      const waitMs = waitAfter(tries);
      const isGivenUp = await markFailed(sql, notice, { error, waitMs, retryAfterMs, isFinal: isGone });
      if (isGivenUp)
        log.error({ ...facts, error }, "gave up a notice; `docmirror notify --retry` lets it be tried again");
      else log.warn({ ...facts, error }, "could not deliver a notice; it is tried again");
    }
    return counts;
  });
}

/** Doubles with each try, up to an hour. The jitter keeps many senders apart. */
export function waitAfter(tries: number, random: () => number = Math.random): number {
  const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries - 1, 20));
  return Math.round(ms * (0.5 + random() / 2));
}
