import { sql } from "drizzle-orm";
import { askFor } from "../../report/ask.ts";
import type { Question } from "../../report/question.ts";
import { relation } from "../../report/relation.ts";
import type { Row } from "../parts/block.ts";

const counted = relation("fact_builds");

/** What the blocks of a build are about. */
export interface BuildScope {
  readonly id: string;
  /** Its row in the reports; missing until they have been computed. */
  readonly fact: Row | undefined;
  readonly sourceTimezone: string;
  readonly now: Date;
}

/** What narrows the files of all blocks. */
export const OWN = { id: null };

/** The row of one build in `report.fact_builds`. */
export const askForBuild = (id: string): Question =>
  askFor("fact_builds", {}, [sql`${counted.build_id} = ${id}`]);
