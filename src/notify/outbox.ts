/**
 * A notice in the outbox:
 *
 *   waiting ──claim──▶ being tried ──2xx──▶ delivered
 *                                  ──another answer or none──▶ waiting, later ──too long──▶ given up
 *                                  ──410──▶ given up
 *                                  ──the process dies──▶ waiting, when its claim is over
 *   given up ──`notify --retry`──▶ waiting
 *
 * A claim moves the next try beyond the longest try, so no two processes send a notice at the same time, and no transaction
 * is open while a receiver is slow. All moments here are by the clock of Postgres.
 */
import type { NoticeType } from "../base/config/setting.ts";
import type { Logger } from "../base/log.ts";
import { oneRow, type Sql, statement } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import type { Message, Receiver, ReceiverAnswer } from "./receiver.ts";

const CLAIM_NOTICE = statement<ClaimedNotice>("claim_notice", import.meta.url);
const MARK_FAILED = statement<{ isGivenUp: boolean }>("mark_failed", import.meta.url);
const RETRY_NOTICES = statement<{ givenUp: number }>("retry_notices", import.meta.url);
const LIST_NOTICES = statement<NoticeRow>("list_notices", import.meta.url);

const CLAIM_S = 60;
/** The error of a notice whose try is under way. It stays where the process dies. */
const UNDER_WAY = "nothing is known of this try: it is under way, or its process ended";
/** The longest wait for a try. One that is further ahead was set by a wrong clock. */
const LONGEST_WAIT = "25 hours";
/** The time for which a notice is tried, and the least number of tries: a machine may sleep through that day. */
const TRIED_FOR = "1 day";
const LEAST_TRIES = 5;
/** A wrong clock may make the day long. */
const MOST_TRIES = 100;
/** The time for which a notice may be due without a try. Where few are made, as by a nightly sync, a dead receiver must not fill the outbox. */
const KEPT_WAITING = "7 days";
const KEPT = "30 days";
const MOST_FORGOTTEN = 1000;

/** `tries` are with the one under way. */
type ClaimedNotice = Message & { noticeId: number; tries: number };

/** Claims the oldest notice that is due, for 60 s. Null when none is. */
async function claimNotice(sql: Sql): Promise<ClaimedNotice | null> {
  const [notice] = await CLAIM_NOTICE(sql, {
    underWay: UNDER_WAY,
    claimS: CLAIM_S,
    longestWait: LONGEST_WAIT,
  });
  return notice ?? null;
}

/**
 * Notes a failed try, and when the next one is: after our own wait, or that which the receiver asks for, within the day that a
 * notice is tried. True when the notice was given up. Does nothing after another claim.
 */
async function markFailed(
  sql: Sql,
  { noticeId, tries }: ClaimedNotice,
  { error, isGone, retryAfterMs = 0 }: ReceiverAnswer,
): Promise<boolean> {
  const waitMs = waitAfter(tries);
  const [row] = await MARK_FAILED(sql, {
    error,
    waitMs,
    askedMs: Math.min(retryAfterMs, 86_400_000),
    triedFor: TRIED_FOR,
    isGone,
    mostTries: MOST_TRIES,
    leastTries: LEAST_TRIES,
    noticeId,
    tries,
  });
  return row?.isGivenUp === true;
}

/** Gives up what waits for too long and removes what ended long ago. Gives the number of those that were given up. */
async function clearOutbox(sql: Sql): Promise<number> {
  const { count } = await sql`
    update sync.notices set given_up_at = now(), error = coalesce(error, 'it waited too long for a try')
    where delivered_at is null and given_up_at is null and next_try_at < now() - ${KEPT_WAITING}::interval`;
  await sql`
    delete from sync.notices where id in (
      select id from sync.notices where coalesce(delivered_at, given_up_at) < now() - ${KEPT}::interval
      order by id limit ${MOST_FORGOTTEN}
    )`;
  return count;
}

/** Lets notices that were given up or wait be tried now, but none that is being sent. Gives how many were given up. */
export async function retryNotices(sql: Sql): Promise<number> {
  return (await oneRow(RETRY_NOTICES(sql, { underWay: UNDER_WAY }))).givenUp;
}

/** A notice as `docmirror notify` shows it. */
export interface NoticeRow {
  message_id: string;
  type: NoticeType;
  summary: string;
  state: "waiting" | "delivered" | "given up";
  noted_at: string;
  tries: number;
  /** Null unless it waits. */
  next_try_at: string | null;
  ended_at: string | null;
  error: string | null;
}

export interface Outbox {
  waiting: number;
  delivered: number;
  given_up: number;
  /** Those that wait first, oldest first; then the others, newest first. */
  notices: NoticeRow[];
}

/** The notices that wait, and those that ended last; at most `limit` of each. */
export async function listNotices(sql: Sql, limit: number): Promise<Outbox> {
  const counts = await oneRow(
    sql<Omit<Outbox, "notices">[]>`
      select count(*) filter (where delivered_at is null and given_up_at is null)::int as waiting,
        count(delivered_at)::int as delivered, count(given_up_at)::int as given_up
      from sync.notices`,
  );
  return { ...counts, notices: [...(await LIST_NOTICES(sql, { limit }))] };
}

const MOST_SENT = 100;
/** The notices of a round have one receiver: after so many failures it is down, and the next round tries again. */
const MOST_FAILED = 4;

const FIRST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = 3_600_000;

/** Counts: the notices that were sent, the tries that failed (the last one by `error`), and the notices that wait for another try. */
export interface Delivered {
  delivered: number;
  failed: number;
  error: string | null;
  waiting: number;
}

export interface DeliverOptions {
  sql: Sql;
  receiver: Receiver;
  /** No try begins later than this after the start. A try lasts 15 s at most. */
  beginWithinMs: number;
  log: Logger;
  signal: AbortSignal;
}

/**
 * Sends the notices that are due, one after the other, oldest first. A failed one is repeated later, and one whose result
 * could not be stored too, with the same id. Throws `StoreError`, and the signal's reason.
 */
export async function deliverNotices(options: DeliverOptions): Promise<Delivered> {
  const { sql, receiver, beginWithinMs, log, signal } = options;
  const until = performance.now() + beginWithinMs;
  const counts: Delivered = { delivered: 0, failed: 0, error: null, waiting: 0 };
  return withStoreErrors("deliver notices", async () => {
    let givenUp = await clearOutbox(sql);
    for (let sent = 0; sent < MOST_SENT && counts.failed < MOST_FAILED && performance.now() < until; sent++) {
      signal.throwIfAborted();
      const notice = await claimNotice(sql);
      if (notice === null) break;
      const answer = await receiver.send(notice, signal);
      const { noticeId, id, type, tries } = notice;
      const facts = { notice_id: noticeId, message_id: id, type, tries };
      const { error } = answer;
      if (error === null) {
        // Whatever became of its claim.
        await sql`
          update sync.notices set delivered_at = now(), given_up_at = null, error = null
          where id = ${noticeId} and delivered_at is null`;
        counts.delivered++;
        log.info(facts, "notice delivered");
        continue;
      }
      counts.failed++;
      counts.error = error;
      if (await markFailed(sql, notice, answer)) givenUp++;
      log.debug({ ...facts, error }, "could not deliver a notice");
    }
    const hint = "`docmirror notify --retry` lets them be tried again";
    if (givenUp > 0) log.error({ notices: givenUp, error: counts.error, hint }, "gave up notices");
    const owed = await oneRow(
      sql<{ waiting: number }[]>`
        select count(*)::int as waiting from sync.notices where delivered_at is null and given_up_at is null and tries > 0`,
    );
    return { ...counts, ...owed };
  });
}

/** Doubles with each try, up to an hour. The jitter keeps many senders apart. */
export function waitAfter(tries: number, random: () => number = Math.random): number {
  const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(tries - 1, 20));
  return Math.round(ms * (0.5 + random() / 2));
}
