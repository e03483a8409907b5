import type { ExplainedTransition } from "./explain-build.ts";
import { formatSpan } from "./format-span.ts";

/** A service's clock that is off by more is rather a zone that was set otherwise when the date was read. */
const CLOCK_MS = 600_000;

/** Why the lower bound of a transition is what it is. */
export function whyNotBefore(transition: ExplainedTransition): string {
  const from = stateName(transition.from_state);
  // The build's date bounds its first state alone.
  if (transition.rule === "unknown" && transition.seq > 1)
    return `nothing is claimed: our clock had gone back since it was seen ${from}`;
  switch (transition.rule) {
    case "date":
      return whyDate(transition);
    case "last_seen": {
      const isMoved = transition.anomalies.includes("clock");
      const moved = isMoved ? ", moved back by as much as our clock was set back since" : "";
      return `when the request was sent whose reply last showed it ${from}${moved}`;
    }
    case "predecessor":
      return `our clock had gone back since it was seen ${from}: not before its first state, whatever bounds that`;
    case "unknown":
      return "nothing is claimed: there was no date, or it lay in the future";
    case null:
      return transition.seq === 1
        ? "the build's own date; an older docmirror wrote this, and not by which rule"
        : `when it had been seen ${from}; an older docmirror wrote this, and not by which rule`;
  }
}

function whyDate({ before_date_ms: movedMs, anomalies }: ExplainedTransition): string {
  const date = "the build's own date, when it was made";
  if (movedMs === null || movedMs === 0) return date;
  if (movedMs > 0 && (movedMs <= CLOCK_MS || anomalies.includes("clock")))
    return `${date}, moved back by ${formatSpan(movedMs)}: so far the service's clock may have been ahead`;
  const way = movedMs > 0 ? "later" : "earlier";
  return `${date}, as it was read then; as it stands and is read today it is ${formatSpan(Math.abs(movedMs))} ${way}`;
}

const ANOMALIES: Record<string, string> = {
  backward: "backward: the service took it back to an earlier state",
  no_date: "no_date: the build had no date that could be read",
  future_date: "future_date: its date lay in the future when it was seen",
  repeated_hour:
    "repeated_hour: its date lies in the hour that the end of summer time repeats; the earlier reading counts",
  skipped_hour:
    "skipped_hour: its date lies in the hour that the begin of summer time skips; the earlier reading counts",
  clock: "clock: a clock was off, so the bound was moved back",
};

/** What is unusual about a transition, in words. */
export function anomalyWords(name: string): string {
  return ANOMALIES[name] ?? name;
}

/** The states of a reference whose record is not here (`mirror.unresolved_references`). */
const MISSING: Record<string, string> = {
  pending: "not here: the service was not asked for it yet, or did not answer",
  gone: "not here: the service has no such record",
  foreign: "leads out of this interface",
  malformed: "names no record of this kind",
};

/** Why the record that a build refers to is not here, in words. */
export function missingWords(status: string): string {
  return MISSING[status] ?? status;
}

export function stateName(state: string | null): string {
  return state ?? "without a state";
}
