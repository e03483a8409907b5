import type { Row } from "../parts/row.ts";
import type { projectQuestions } from "./project-questions.ts";

/** The answers about one project, by the names of their questions. */
export type ProjectAnswers = Readonly<Record<keyof ProjectQuestions, readonly Row[]>>;
export type ProjectQuestions = ReturnType<typeof projectQuestions>;

/** A number of the first row of an answer; 0 without one. */
export function numberOf(rows: readonly Row[], column: string): number {
  return Number(rows[0]?.[column] ?? 0);
}
