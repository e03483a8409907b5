/** What is stored and read by several relations. What one relation alone reads is in its own file. */
import { dimDates, dimProjects, dimVersions } from "../../store/schema/report.ts";
import { type StoredAnswer, stored, touched } from "../declare-stored.ts";
import { DICTIONARY } from "../dictionary.ts";
import { BUILDS } from "./builds.ts";
import { DAYS } from "./days.ts";
import { ERRORS } from "./errors.ts";
import { PROJECT_DAYS } from "./project_days.ts";
import { PROJECT_WEEKS } from "./project_weeks.ts";
import { SERIES } from "./series.ts";
import { STREAKS } from "./streaks.ts";
import { WEEKS } from "./weeks.ts";

export { BUILDS, SERIES };

/** Records and days by themselves. Each list, and each answer in it, comes after those that it is computed from. */
export const STORED_DIMENSIONS: readonly StoredAnswer[] = [
  stored(dimProjects, touched("project")),
  stored(dimVersions, touched("version")),
];

export const DATES = stored(dimDates);

const OWN = Object.values(DICTIONARY).flatMap(({ stored }) => stored ?? []);

export const ANSWERS: readonly StoredAnswer[] = [
  ...[PROJECT_DAYS, DAYS, PROJECT_WEEKS, WEEKS, SERIES, STREAKS, ERRORS],
  ...OWN.filter(({ parts }) => parts !== null),
];

/** They read all builds, or all records, so they are not computed after every round of the watch. */
export const EXPENSIVE_ANSWERS: readonly StoredAnswer[] = OWN.filter(({ parts }) => parts === null);

/** The tables of all that is stored. */
export const TABLES = [BUILDS, ...ANSWERS, ...EXPENSIVE_ANSWERS].map(({ drizzle }) => drizzle);
