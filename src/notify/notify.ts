import type { Clock } from "../base/clock.ts";
import type { Proxies } from "../base/config/proxies.ts";
import type { NoticeType } from "../base/config/setting.ts";
import { runStatement, type Sql, type TransactionSql, withTransaction } from "../store/connection/sql.ts";
import { withStoreErrors } from "../store/connection/store-errors.ts";
import { type Delivered, type DeliverOptions, deliverNotices } from "./outbox.ts";
import { projectTurns } from "./project-turns.ts";
import { createReceiver } from "./receiver.ts";
import { endedRuns, schemaChanges } from "./run-notices.ts";
import { type LookSettings, type NoticeSource, noteNews } from "./source.ts";
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
      // What was noted before is still sent.
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

/**
 * Stores what is news since the last look, and moves the marks. Returns how many notices were `noted`, and the sources that
 * were looked at for the first time: such a look stores nothing. Safe to repeat, and at the same time elsewhere: a source
 * that is looked through there is left to it. Throws `StoreError`, and the signal's reason.
 */
export async function collectNotices(
  sql: Sql,
  settings: LookSettings,
  wanted: Wanted = { types: null, projects: null },
  signal?: AbortSignal,
) {
  const collected = { noted: 0, begun: [] as string[] };
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
  if (mark && !mark.is_old) {
    const statement = noteNews(source.look(settings, mark.position));
    const [found] = await runStatement<{ noted: number; position: string }>(tx, statement);
    const position = found?.position ?? mark.position;
    if (position !== mark.position || mark.is_due) await moveMark(tx, name, position);
    return (found?.noted ?? 0) - (await leaveOut(tx, wanted));
  }
  const [first] = await runStatement<{ position: string }>(tx, source.begin(settings));
  if (first === undefined) return 0;
  if (mark) {
    await moveMark(tx, name, first.position);
    return "begun";
  }
  // Without a row it may also be locked by a look elsewhere. Then this inserts nothing and does not wait.
  const { count } = await tx`
    insert into sync.notice_marks (source, position) values (${name}, ${first.position}) on conflict do nothing`;
  return count > 0 ? "begun" : 0;
}

async function leaveOut(tx: TransactionSql, { types, projects }: Wanted): Promise<number> {
  const patterns = (projects ?? ["*"]).map((pattern) =>
    pattern.replaceAll(/[\\%_]/g, "\\$&").replaceAll("*", "%"),
  );
  const { count } = await tx`
    delete from sync.notices
    where noted_at = now() and (
      not (${types}::text[] is null or type = any (${types}::text[]))
      or data ->> 'project_slug' <> '' and (
        not data ->> 'project_slug' like any (${patterns}::text[])
        or exists (select from sync.muted_projects where project_slug = data ->> 'project_slug' and until > now())))`;
  return count;
}

async function moveMark(tx: TransactionSql, name: string, position: string): Promise<void> {
  await tx`update sync.notice_marks set position = ${position}, marked_at = now() where source = ${name}`;
}
