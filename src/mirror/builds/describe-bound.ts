import type { ExplainedTransition } from "./explain-build.ts";
import { formatSpan } from "./format-span.ts";

/** A larger difference is more likely another time zone setting at that time than a wrong clock. */
const CLOCK_MS = 600_000;

/** Explains the lower bound of a transition. */
export function whyNotBefore(transition: ExplainedTransition): string {
  const from = stateName(transition.from_state);
  // The build's date only bounds its first state.
  if (transition.rule === "unknown" && transition.seq > 1)
    return `unknown: our clock was set back after it was seen ${from}`;
  switch (transition.rule) {
    case "date":
      return whyDate(transition);
    case "last_seen": {
      const sent = `when the last request that showed it ${from} was sent`;
      const isMoved = transition.anomalies.includes("clock");
      return isMoved ? `${sent}, moved back because our clock was set back since then` : sent;
    }
    case "predecessor":
      return `our clock was set back after it was seen ${from}, so the bound of its first state is used`;
    case "unknown":
      return "unknown: the build had no date, or its date was in the future";
  }
}

function whyDate({ before_date_ms: movedMs, anomalies }: ExplainedTransition): string {
  const date = "the build's own date";
  if (movedMs === null || movedMs === 0) return date;
  if (movedMs > 0 && (movedMs <= CLOCK_MS || anomalies.includes("clock")))
    return `${date}, moved back by ${formatSpan(movedMs)} because the service's clock may have been ahead by that much`;
  const way = movedMs > 0 ? "later" : "earlier";
  return `${date}, as it was read then; today's reading is ${formatSpan(Math.abs(movedMs))} ${way}`;
}

const ANOMALIES: Record<string, string> = {
  backward: "backward: the service returned it to an earlier state",
  no_date: "no_date: the build had no date that could be read",
  future_date: "future_date: its date was in the future when it was seen",
  repeated_hour:
    "repeated_hour: its date is in the hour that the end of summer time repeats; the earlier reading is used",
  skipped_hour:
    "skipped_hour: its date is in the hour that the start of summer time skips; the earlier reading is used",
  clock: "clock: a clock was wrong, so the bound was moved back",
};

export const anomalyWords = (name: string) => ANOMALIES[name] ?? name;

/** The states of a reference whose record is not in the mirror (`mirror.unresolved_references`). */
const MISSING: Record<string, string> = {
  pending: "not here: not requested yet, or the service did not answer",
  gone: "not here: the service has no such record",
  foreign: "leads outside the API of the service",
  malformed: "does not name a record of this kind",
};

export const missingWords = (status: string) => MISSING[status] ?? status;

export const stateName = (state: string | null) => state ?? "without a state";
