import type { SQL } from "drizzle-orm";
import type { AnyPgColumn } from "drizzle-orm/pg-core";
import { compose, nameOf } from "../store/connection/sql.ts";
import { SERVICE_NAME } from "../store/ledger/mirrored-service.ts";
import { notices } from "../store/schema/index.ts";

/** What a look at a source depends on, beside its tables. */
export interface LookSettings {
  staleAfterMs: number;
  /** The clock that wrote the times of runs and walks. An ISO time. */
  now: string;
}

/** A place where notices come from. It has a mark in `sync.notice_marks`, up to which it was looked through. */
export interface NoticeSource {
  readonly name: string;
  /** Selects `position`, where the first look begins. No row while there is nothing to compare with. */
  begin(settings: LookSettings): SQL;
  /** What is news since `position`, in the parts of one statement. */
  look(settings: LookSettings, position: string): Look;
}

interface Look {
  /** The queries (`name as (…), …`) that the others read. */
  facts: SQL;
  /** Selects subject, type and data of each notice, oldest first. At most `MOST_NOTED`: then the next look finds the rest. */
  news: SQL;
  /** The next position, and what it is read from. Without a row the position stays. */
  next: SQL;
}

/** Inserts the news of a look that is not noted yet, each with the name of the service, and selects the next `position` and how many were `noted`. */
export const noteNews = ({ facts, news, next }: Look): SQL => compose`
  with ${facts}, noted as (
    insert into ${notices} (${nameOf(notices.subject)}, ${nameOf(notices.type)}, ${nameOf(notices.data)})
    select subject, type, data || jsonb_strip_nulls(jsonb_build_object('service', ${SERVICE_NAME})) from (${news}) as news (subject, type, data)
    on conflict (subject) do nothing returning 1
  )
  select (select count(*) from noted)::int as noted, ${next}`;

export const MOST_NOTED = 100;

/** Texts of upstream in a notice: in one line, and not longer than a receiver wants to read. */
export const cut = (text: SQL | AnyPgColumn, length: number): SQL =>
  compose`left(regexp_replace(left(${text}, ${2 * length}), '[\\x01-\\x1f\\x7f\\s]+', ' ', 'g'), ${length})`;

/** A moment in a sentence. */
export const inWords = (moment: SQL): SQL =>
  compose`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'`;
