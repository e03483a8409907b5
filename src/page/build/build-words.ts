import type { ExplainedBuild } from "../../mirror/builds/explain-build.ts";
import { agoWords } from "../parts/age.ts";
import type { Tone } from "../parts/icon.ts";
import { type MarkKind, outcomeMark } from "../parts/mark.ts";
import type { Row } from "../parts/row.ts";
import type { VerdictLook } from "../parts/verdict-bar.ts";
import { kindLabel, kindMeaning, shorten } from "../parts/words.ts";

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

const LINE_LENGTH = 180;
const STATE_LENGTH = 40;

/** Judges one build. `fact` is its row in `report.fact_builds`, which is missing until the reports were computed. */
export function judgeBuild(
  build: ExplainedBuild,
  fact: Row | undefined,
  errorLine: string | null,
  now: Date,
): BuildVerdict {
  const outcome = fact === undefined ? outcomeOf(build) : String(fact.outcome);
  const ago = agoWords(fact === undefined ? build.date_read?.earliest : fact.triggered_at, now);
  const verdict = judgeOutcome(outcome, build, ago === null ? "" : ` ${ago} ago`, errorLine, now);
  const evidence = [...verdict.evidence];
  if (outcome === "failed" && fact !== undefined) {
    const meaning = kindMeaning(fact.error_class);
    evidence.unshift(`${kindLabel(fact.error_class)}${meaning === null ? "" : `: ${meaning}`}.`);
  }
  if (build.deleted_at !== null) {
    const since = agoWords(build.deleted_at, now);
    evidence.push(`The service no longer has it${since === null ? "" : `, as was found ${since} ago`}.`);
  }
  if (fact === undefined) evidence.push("It is not counted yet: the reports are computed when a run ends.");
  if (fact?.is_dated_ahead === true)
    evidence.push("Its date is beyond tomorrow, so it counts as a build without a date.");
  return { ...verdict, evidence };
}

function judgeOutcome(
  outcome: string,
  { state, open, success }: ExplainedBuild,
  ago: string,
  errorLine: string | null,
  now: Date,
): BuildVerdict {
  const mark = outcomeMark(outcome);
  const inState = state === null ? "without a state" : `“${shorten(state, STATE_LENGTH)}”`;
  const seenAgo = agoWords(open?.last_seen.asked_at, now);
  const seen = `still ${inState} when last seen${seenAgo === null ? "" : `, ${seenAgo} ago`}`;
  switch (outcome) {
    case "failed":
      return {
        look: "some",
        mark,
        tone: "bad",
        sign: "✗",
        sentence: `Failed${ago}${errorLine === null ? "; its log does not say why" : `: ${shorten(errorLine, LINE_LENGTH)}`}`,
        evidence: [],
      };
    case "succeeded":
      return { look: "good", mark, tone: "good", sign: "✓", sentence: `Succeeded${ago}.`, evidence: [] };
    case "open":
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "…",
        sentence: `In progress, triggered${ago}: ${seen}.`,
        evidence: ["Whether it succeeds is not known yet."],
      };
    case "stuck":
      return {
        look: "warn",
        mark,
        tone: "warn",
        sign: "!",
        sentence: `Stuck, triggered${ago}: ${seen}.`,
        evidence: [
          "It counts neither as a success nor as a failure. The service may still finish it, or close it as failed.",
        ],
      };
    case "vanished":
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "?",
        sentence: `Vanished before it finished: it was ${inState} when last seen.`,
        evidence: ["How it ended is not known. It counts neither as a success nor as a failure."],
      };
    default:
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "?",
        sentence:
          state === "finished" && success === null
            ? `Finished${ago === "" ? "" : `, triggered${ago}`}, but the service does not say whether it succeeded.`
            : `How it ended is not known: the service calls its state ${inState}.`,
        evidence: ["It counts neither as a success nor as a failure."],
      };
  }
}

/** The outcome by the record alone. Whether an open build is stuck, only the reports say. */
function outcomeOf({ state, success, deleted_at, open }: ExplainedBuild): string {
  if (state === "finished") return success === null ? "unknown_state" : success ? "succeeded" : "failed";
  if (deleted_at !== null || (open !== null && open.vanished_at !== null)) return "vanished";
  return state === "triggered" || state === "building" ? "open" : "unknown_state";
}
