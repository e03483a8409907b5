/**
 * The places where notices come from. The facts are found by a statement in `sql/`, one for each source, which also says how far it
 * looked; the words are written here, beside each source.
 */
import type { NoticeType } from "../base/config/setting.ts";
import { RESOURCES } from "../resources/resources.ts";
import { type AnySql, statement } from "../store/connection/sql.ts";

/** The settings and the moment that a look depends on, beside the tables. */
export interface LookSettings {
  staleAfterMs: number;
  /** The clock that wrote the times of runs and walks. An ISO time. */
  now: string;
}

export interface Notice {
  /** A word that never comes twice, so that nothing is noted twice. */
  subject: string;
  type: NoticeType;
  data: Record<string, unknown> & { summary: string };
}

/** The findings of a look: where the next one begins, and the news, oldest first. */
interface Found {
  position: string;
  news: readonly Notice[];
}

export interface NoticeSource {
  /** The name of its mark in `sync.notice_marks`, up to which it was looked through. */
  readonly name: string;
  /**
   * Finds what is news since `position`, at most `MOST_NOTED` notices: the next look finds the rest. Null is the first look, which only
   * finds where the next one begins. Undefined where the mark stays: there is nothing to compare with yet, or nothing new.
   */
  look(sql: AnySql, settings: LookSettings, position: string | null): Promise<Found | undefined>;
}

const MOST_NOTED = 100;

/** A source of the facts that `sql/FILE.sql` finds, each of which `describe` puts into words. */
export function createSource<Fact>(
  name: string,
  file: string,
  describe: (fact: Fact, settings: LookSettings) => Notice,
): NoticeSource {
  const find = statement<{ position: string; news: Fact[] }>(file, import.meta.url);
  return {
    name,
    async look(sql, settings, position) {
      const [found] = await find(sql, { ...settings, resources: RESOURCES, position, most: MOST_NOTED });
      if (found === undefined) return undefined;
      const news = position === null ? [] : found.news.map((fact) => describe(fact, settings));
      return { position: found.position, news };
    },
  };
}

/** A text of upstream in a notice: in one line, and not longer than a receiver wants to read. */
export function cut(text: string | null, length: number): string {
  const line = [...(text ?? "")]
    .slice(0, 2 * length)
    .join("")
    .replace(/[\p{Cc}\s]+/gu, " ");
  return [...line].slice(0, length).join("");
}

/** The same of a text that may be absent. */
export const cutOrNull = (text: string | null, length: number): string | null =>
  text === null ? null : cut(text, length);

/** A moment in a sentence. */
export const inWords = (moment: string): string => `${moment.slice(0, 16).replace("T", " ")} UTC`;
