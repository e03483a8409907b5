import type { Clock } from "../base/clock.ts";
import type { Proxies } from "../base/config/proxies.ts";
import type { NoticeType } from "../base/config/setting.ts";
import { type Sql, statement, type TransactionSql, withTransaction } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { findServiceName } from "../store/ledger/mirrored-service.ts";
import { type Delivered, type DeliverOptions, deliverNotices } from "./outbox.ts";
import { projectTurns } from "./project-turns.ts";
import { createReceiver } from "./receiver.ts";
import { endedRuns, schemaChanges } from "./run-notices.ts";
import type { LookSettings, Notice, NoticeSource } from "./source.ts";
import { arrivals, failedJobs, platformTrouble, staleLists } from "./state-notices.ts";
import type { Wanted, Webhook } from "./webhook.ts";

export interface NotifyOptions extends Omit<DeliverOptions, "receiver"> {
  webhook: Webhook;
  staleAfterMs: number;
  proxies?: Proxies | undefined;
  clock: Clock;
}

/** One round: notes what is news, then sends what is due. Throws `StoreError`, and the signal's reason. */
export async function notify(options: NotifyOptions): Promise<Delivered> {
  const { sql, webhook, clock, log, signal } = options;
  const receiver = createReceiver({ ...webhook, proxies: options.proxies, clock });
  let fault: unknown = null;
  try {
    try {
      const settings = { staleAfterMs: options.staleAfterMs, now: clock.now().toISOString() };
      const { noted, begun } = await collectNotices(sql, settings, webhook.wanted, signal);
      if (begun.length > 0)
        log.info({ sources: begun }, "notices begin here: what happened before is not news");
      if (noted > 0) log.info({ notices: noted }, "noted what needs attention");
    } catch (error) {
      signal.throwIfAborted();
      // Notices that were noted before are still sent.
      fault = error;
    }
    const sent = await deliverNotices({ ...options, receiver });
    if (fault !== null) throw fault;
    return sent;
  } finally {
    await receiver.close();
  }
}

/** The source of each type of notice. They are looked through in this order. */
const SOURCES = {
  "run.ended": endedRuns,
  "list.stale": staleLists,
  "schema.changed": schemaChanges,
  "project.broke": projectTurns,
  "project.recovered": projectTurns,
  "builds.quiet": arrivals,
  "builds.resumed": arrivals,
  "platform.trouble": platformTrouble,
  "job.failed": failedJobs,
} as const satisfies Record<Exclude<NoticeType, "test">, NoticeSource>;

/** A mark that nobody moved for longer is from before a time without a webhook. What came since is history, not news. */
const MARKS_HOLD = "35 days";
/** Says often enough that the source is looked at. */
const MARK_AGAIN_AFTER = "1 hour";
/** A server that is busy with other work is asked again by the next look. */
const LOOK_WITHIN = "10s";

/** The number of notices that were noted, and the sources that were looked at for the first time. */
export interface Collected {
  noted: number;
  begun: string[];
}

/**
 * Stores what is news since the last look, and moves the marks. The first look at a source stores nothing. Safe to repeat, and at the
 * same time elsewhere: a source that is looked through there is left to it. Throws `StoreError`, and the signal's reason.
 */
export async function collectNotices(
  sql: Sql,
  settings: LookSettings,
  wanted: Wanted = { types: null, projects: null },
  signal?: AbortSignal,
): Promise<Collected> {
  const collected: Collected = { noted: 0, begun: [] };
  for (const source of new Set<NoticeSource>(Object.values(SOURCES))) {
    const found = await withStoreErrors(`look for notices in ${source.name}`, () =>
      withTransaction(sql, (tx) => look(tx, source, settings, wanted), signal),
    );
    if (found === "begun") collected.begun.push(source.name);
    else collected.noted += found;
  }
  return collected;
}

async function look(tx: TransactionSql, source: NoticeSource, settings: LookSettings, wanted: Wanted) {
  await tx`select set_config('statement_timeout', ${LOOK_WITHIN}, true), set_config('jit', 'off', true)`;
  const { name } = source;
  const [mark] = await tx<{ position: string; is_old: boolean; is_due: boolean }[]>`
    select position, marked_at < now() - ${MARKS_HOLD}::interval as is_old,
      marked_at not between now() - ${MARK_AGAIN_AFTER}::interval and now() as is_due
    from sync.notice_marks where source = ${name} for update skip locked`;
  const isFirst = mark === undefined || mark.is_old;
  const found = await source.look(tx, settings, isFirst ? null : mark.position);
  if (!isFirst) {
    const { position, news } = found ?? { position: mark.position, news: [] };
    if (position !== mark.position || mark.is_due) await moveMark(tx, name, position);
    return news.length === 0 ? 0 : note(tx, news, wanted);
  }
  if (found === undefined) return 0;
  if (mark) {
    await moveMark(tx, name, found.position);
    return "begun";
  }
  // Without a row it may also be locked by a look elsewhere. Then this inserts nothing and does not wait.
  const { count } = await tx`
    insert into sync.notice_marks (source, position) values (${name}, ${found.position}) on conflict do nothing`;
  return count > 0 ? "begun" : 0;
}

const NOTE_NEWS = statement("note_news", import.meta.url);

/** Stores those that are wanted, each with the name of the service. Gives how many were new. */
async function note(
  tx: TransactionSql,
  news: readonly Notice[],
  { types, projects }: Wanted,
): Promise<number> {
  const service = await findServiceName(tx);
  const named = news.map(({ data, ...notice }) => ({
    ...notice,
    data: service ? { ...data, service } : data,
  }));
  const patterns = (projects ?? ["*"]).map((pattern) =>
    pattern.replaceAll(/[\\%_]/g, "\\$&").replaceAll("*", "%"),
  );
  const { count } = await NOTE_NEWS(tx, { news: JSON.stringify(named), types, patterns });
  return count;
}

async function moveMark(tx: TransactionSql, name: string, position: string): Promise<void> {
  await tx`update sync.notice_marks set position = ${position}, marked_at = now() where source = ${name}`;
}
