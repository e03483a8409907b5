import { type SQL, sql } from "drizzle-orm";
import { dayText } from "../period.ts";

/** A day of a period as a date. */
export const dateOf = (day: number): SQL => sql`${dayText(day)}::date`;

/** That a column is one of these days, both included. */
export const within = (column: SQL, first: number, last: number): SQL =>
  sql`${column} between ${dateOf(first)} and ${dateOf(last)}`;
