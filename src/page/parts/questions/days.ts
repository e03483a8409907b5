import { type SQL, sql } from "drizzle-orm";
import { ask, relation } from "../../../report/ask.ts";
import { dayText } from "../period.ts";

const date = relation("dim_dates");

/** The first day with a known build. */
export const FIRST_DAY = ask("dim_dates")`select min(${date.day}) as first_day from ${date}`;

/** A day of a period as a date. */
export const dateOf = (day: number): SQL => sql`${dayText(day)}::date`;

/** That a column is one of these days, both included. */
export const within = (column: SQL, first: number, last: number): SQL =>
  sql`${column} between ${dateOf(first)} and ${dateOf(last)}`;
