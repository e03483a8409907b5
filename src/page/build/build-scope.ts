import { sql } from "drizzle-orm";
import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import type { BuildExplanation, ExplainedBuild } from "../../mirror/builds/explain-build.ts";
import { askFor, type Question, relation } from "../../report/ask.ts";
import type { Row } from "../parts/block.ts";
import type { Markup } from "../parts/html.ts";
import type { MarkKind, Tone } from "../parts/marks.ts";
import type { VerdictLook } from "../parts/verdict.ts";
import type { ErrorPlace, LogTail } from "./log-tail.ts";

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

/** Where a build is to be found at the mirrored service. Addresses of http and https only. */
export interface UpstreamLinks {
  /** The record of the build in the API. */
  readonly record: string | null;
  /** The documentation of its project. */
  readonly docs: string | null;
}

/** What a build is, and no more than is known of it. */
export interface BuildVerdict {
  readonly look: VerdictLook;
  readonly mark: { readonly kind: MarkKind; readonly word: string };
  /** Of the window's icon, and the sign before its title. */
  readonly tone: Tone;
  readonly sign: string;
  readonly sentence: string;
  readonly evidence: readonly string[];
}

/** What the mirror itself knows of a build, and no report counts. */
export interface BuildStory {
  readonly build: ExplainedBuild;
  readonly description: BuildDescription;
  readonly tails: readonly LogTail[];
  readonly place: ErrorPlace | null;
  readonly upstream: UpstreamLinks;
}

/** What the verdict says to the blocks. */
export interface BuildSaid {
  /** The build and its verdict; null where the mirror does not have it. */
  readonly told:
    | (BuildStory & { readonly verdict: BuildVerdict; readonly bar: Markup; readonly isFailed: boolean })
    | null;
  readonly quarantine: BuildExplanation["quarantine"];
}
