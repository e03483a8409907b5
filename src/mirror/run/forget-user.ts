/**
 * Removes what names a person, as the law of the EU may ask for: from the record of the user and its history, from references by name, and
 * from notices and quarantine; from logs where that is asked for. The row of the user stays with its id, because projects refer to it.
 *
 * A user that the service still shows is read again by the next full walk, since the row then differs from that reply.
 */
import type { SQL } from "drizzle-orm";
import { ConfigError, NotFoundError } from "../../base/errors.ts";
import {
  compose,
  composed,
  type Sql,
  statement,
  type TransactionSql,
  withTransaction,
} from "../../store/connection/sql.ts";
import { withStoreErrors } from "../../store/connection/store-errors.ts";
import { PLANS } from "../normalize/record-plan.ts";

const FORGET_USERS = statement("forget_users", import.meta.url);
const FIND_PEOPLE = statement<Omit<Person, "fullNames"> & { firsts: string[]; lasts: string[] }>(
  "find_people",
  import.meta.url,
);

interface ForgetOptions {
  sql: Sql;
  /** A username, the present or a former one; or the id of a user that has no such name. */
  name: string;
  /** Count, change nothing. */
  isDry: boolean;
  /** Forget also a user that the service still shows. */
  isForced: boolean;
  /** Replace the names in logs too. */
  inTexts: boolean;
  signal: AbortSignal;
}

export interface Forgotten {
  /** The ids of the users. */
  users: string[];
  /** Of them those that the service still shows. */
  shown: string[];
  changes: number;
  references: number;
  quarantine: number;
  notices: number;
  /** The logs with a name. Null where they were not searched. */
  logs: number | null;
}

interface Person {
  id: string;
  isDeleted: boolean;
  usernames: string[];
  fullNames: string[];
  uris: string[];
}

const FORGOTTEN = "(forgotten)";
/** Shorter names are words of their own. */
const LEAST_LENGTH = 3;
const BATCH = 500;

/**
 * Forgets the users of a name. All but the logs goes in one transaction; each batch of logs is committed by itself, and it is safe to
 * repeat. Throws `NotFoundError` where no user has the name, `ConfigError` for one that the service still shows, and `StoreError`.
 */
export async function forgetUser(options: ForgetOptions): Promise<Forgotten> {
  const { sql, name, isDry, isForced, inTexts } = options;
  return withStoreErrors("forget a user", async () => {
    const people = await findPeople(sql, name);
    if (people.length === 0)
      throw new NotFoundError(`no user of the mirror has the name '${name}', and none had`, {
        hint: "a user can be named by its id too; one that was forgotten has no name",
      });
    const shown = people.filter(({ isDeleted }) => !isDeleted).map(({ id }) => id);
    if (shown.length > 0 && !isForced && !isDry)
      throw new ConfigError(
        `the service still shows user ${shown.join(", ")}, so the next full walk would read the names again`,
        {
          hint: "have the user deleted there first, or repeat it with --force",
        },
      );
    const counts = await withTransaction(sql, (tx) => forgetRows(tx, people, isDry));
    const logs = inTexts ? await forgetLogs(options, people) : null;
    return { users: people.map(({ id }) => id), shown, ...counts, logs };
  });
}

/** With all names that each had, from its record and its history. */
async function findPeople(sql: Sql, name: string): Promise<Person[]> {
  const rows = await FIND_PEOPLE(sql, { name });
  return rows.map(({ firsts, lasts, ...person }) => ({
    ...person,
    fullNames: firsts.flatMap((first) => lasts.flatMap((last) => [`${first} ${last}`, `${last}, ${first}`])),
  }));
}

type Counts = Omit<Forgotten, "users" | "shown" | "logs">;

async function forgetRows(tx: TransactionSql, people: readonly Person[], isDry: boolean): Promise<Counts> {
  const ids = compose.param(people.map(({ id }) => id));
  const counts: Counts = { changes: 0, references: 0, quarantine: 0, notices: 0 };
  /** `set`: what the rows get. Null: they are deleted. */
  const forget = async (what: keyof Counts, table: SQL, where: SQL, set: SQL | null) => {
    const change = set === null ? compose`delete from ${table}` : compose`update ${table} set ${set}`;
    const { count } = await composed(tx)`${isDry ? compose`select from ${table}` : change} where ${where}`;
    counts[what] += count;
  };
  if (!isDry) await FORGET_USERS(tx, { ids: people.map(({ id }) => id) });
  const isTheirs = compose`resource = 'user' and record_id = any (${ids}::text[])`;
  await forget("changes", compose`mirror.changes`, compose`${isTheirs} and kind = 'updated'`, null);
  await forget("quarantine", compose`sync.quarantine`, isTheirs, null);
  for (const { id, uris } of people)
    for (const uri of uris.filter((one) => !one.endsWith(`/${id}/`))) {
      const neutral = `/api/v1/user/${id}/`;
      const [from, to] = [JSON.stringify(uri), JSON.stringify(neutral)];
      const inJson = (json: SQL) => compose`replace(${json}::text, ${from}, ${to})::jsonb`;
      const [before, after, payload] = [compose`before`, compose`after`, compose`payload`];
      const own = compose`user_uri = ${neutral}, user_id = ${id}`;
      await forget("references", compose`mirror.project_users`, compose`user_uri = ${uri}`, own);
      const names = compose`target_resource = 'user' and uri = ${uri}`;
      await forget("references", compose`mirror.unresolved_references`, names, null);
      const isChange = compose`strpos(concat(before::text, after::text), ${from}) > 0`;
      const sides = compose`before = ${inJson(before)}, after = ${inJson(after)}`;
      await forget("changes", compose`mirror.changes`, isChange, sides);
      const isSent = compose`strpos(payload::text, ${from}) > 0`;
      await forget("quarantine", compose`sync.quarantine`, isSent, compose`payload = ${inJson(payload)}`);
    }
  const any = namesOf(people);
  if (any === null) return counts;
  // A name within a sentence. The whole of a value may be the slug of a project.
  const pattern = `(?<=\\s)${any}(?!\\w)|(?<!\\w)${any}(?=\\s)`;
  const data = compose`data = regexp_replace(data::text, ${pattern}, ${FORGOTTEN}, 'g')::jsonb`;
  await forget("notices", compose`sync.notices`, compose`data::text ~ ${pattern}`, data);
  return counts;
}

const LOGS = [
  { table: compose`mirror.build_logs`, texts: PLANS.build.long },
  { table: compose`mirror.archived_logs`, texts: ["error_line"] },
];

/** Replaces the names in the logs of builds, and in the lines that are left of removed ones. */
async function forgetLogs({ sql, isDry, signal }: ForgetOptions, people: readonly Person[]): Promise<number> {
  const any = namesOf(people);
  if (any === null) return 0;
  const pattern = `(?<!\\w)${any}(?!\\w)`;
  let logs = 0;
  for (const { table, texts } of LOGS) {
    const columns = texts.map((text) => compose.identifier(text));
    const all = compose.join(columns, compose`, `);
    const replaced = compose.join(
      columns.map((text) => compose`${text} = regexp_replace(${text}, ${pattern}, ${FORGOTTEN}, 'g')`),
      compose`, `,
    );
    for (let after = ""; ; ) {
      signal.throwIfAborted();
      const [batch] = await composed(sql)<{ last: string | null }>`
        select max(build_id) as last
        from (select build_id from ${table} where build_id > ${after} order by build_id limit ${BATCH}::int) as batch`;
      if (!batch?.last) break;
      const change = isDry ? compose`select from ${table}` : compose`update ${table} set ${replaced}`;
      const { count } = await composed(sql)`
        ${change} where build_id > ${after} and build_id <= ${batch.last} and concat_ws(e'\n', ${all}) ~ ${pattern}`;
      logs += count;
      after = batch.last;
    }
  }
  return logs;
}

/** A pattern of the names that are words of their own; null for none. */
function namesOf(people: readonly Person[]): string | null {
  const names = people
    .flatMap(({ usernames, fullNames }) => [...usernames, ...fullNames])
    .filter((name) => name.length >= LEAST_LENGTH && !/^\d+$/.test(name));
  return names.length === 0 ? null : `(?:${names.map(escaped).join("|")})`;
}

const escaped = (name: string) =>
  name.replace(/[^\p{L}\p{N}_]/gu, (mark) => (mark === " " ? "\\s" : `\\${mark}`));
