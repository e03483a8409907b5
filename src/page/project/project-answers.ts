import type { Offer } from "../parts/offers.ts";
import type { Row } from "../parts/row.ts";
import type { projectBlocks, projectQuestions } from "./project-questions.ts";

/** The answers about one project, by the names of their questions. */
export type ProjectAnswers = Readonly<Record<keyof ProjectQuestions, readonly Row[]>>;
export type ProjectQuestions = ReturnType<typeof projectQuestions>;

/** The files of the blocks about one project. */
export type ProjectOffers = { readonly [Block in keyof ReturnType<typeof projectBlocks>]: Offer };

/** A number of the first row of an answer; 0 without one. */
export function numberOf(rows: readonly Row[], column: string): number {
  return Number(rows[0]?.[column] ?? 0);
}
