import type { BuildDescription } from "../../mirror/builds/describe-build.ts";
import type { ExplainedBuild } from "../../mirror/builds/explain-build.ts";
import type { Build } from "../parts/builds.ts";
import type { Verdict } from "../parts/document.ts";
import type { PageMoment } from "../parts/freshness.ts";
import type { Markup } from "../parts/html.ts";
import type { ErrorPlace, LogTail } from "./log-tail.ts";

/** The moment of the page, and its build: one that was not finished is no more than that, unless the last look is new. */
export interface BuildScope extends PageMoment {
  readonly id: string;
  /** Its row in the reports; missing until they have been computed. */
  readonly fact: Build | undefined;
  readonly sourceTimezone: string;
}

/** A build as the mirror itself has it; no report counts that. */
export interface Story {
  readonly build: ExplainedBuild;
  readonly description: BuildDescription;
  readonly tails: readonly LogTail[];
  /** The place in its log that says why it failed. */
  readonly place: ErrorPlace | null;
  /** The addresses of its record and its documentation at the service. */
  readonly upstream: { readonly record: string | null; readonly docs: string | null };
}

/** The verdict of a build, as its blocks and its page take it. */
export interface BuildSaid extends Story {
  readonly verdict: Verdict;
  readonly isFailed: boolean;
  /** Links to the builds around it. */
  readonly neighbours: Markup | string;
}
