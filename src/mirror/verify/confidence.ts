import type { CheckVerdict } from "../../store/ledger/checks.ts";

/** The ways in which the mirror may differ from the service. A record of the service is missing here; one that is here is extra. */
export const FAULT_KINDS = ["fields", "missing", "extra"] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** How a record was drawn: by the ids of the mirror, by the places of the lists, or by both. */
export interface DrawnLook {
  isDrawnHere: boolean;
  isDrawnThere: boolean;
  verdict: CheckVerdict;
  /** Null where both sides are equal, or nothing is known. */
  kind: FaultKind | null;
}

/** Of the records that could show a kind of fault, how many were compared, and how many showed it. */
export type KindCounts = Record<FaultKind, { checked: number; found: number }>;

/**
 * Counts for each kind the part of a sample that can meet it: a record that is missing here has no id here, and one that the
 * service lacks has no place there. What may have changed since counts as found: it differs now.
 */
export function countKinds(looks: readonly DrawnLook[]): KindCounts {
  const decided = looks.filter(({ verdict }) => verdict !== "unclear" && verdict !== "denied");
  const countIn = (some: readonly DrawnLook[], of: FaultKind) => ({
    checked: some.length,
    found: some.filter(({ kind, verdict }) => kind === of && verdict !== "equal").length,
  });
  return {
    fields: countIn(
      decided.filter(({ kind }) => kind === null || kind === "fields"),
      "fields",
    ),
    missing: countIn(
      decided.filter(({ isDrawnThere }) => isDrawnThere),
      "missing",
    ),
    extra: countIn(
      decided.filter(({ isDrawnHere }) => isDrawnHere),
      "extra",
    ),
  };
}

const DOUBT = 0.05;

/**
 * The exact upper bound of a share after `found` of `checked` (Clopper–Pearson, one-sided): where the share is larger, so few
 * are found in at most 5 % of all samples. 1 where nothing was checked.
 */
export function upperBound(found: number, checked: number): number {
  if (found >= checked) return 1;
  let [low, high] = [found / checked, 1];
  for (let step = 0; step < 60; step++) {
    const share = (low + high) / 2;
    if (chanceOfAtMost(found, checked, share) > DOUBT) low = share;
    else high = share;
  }
  return high;
}

/** That at most so many of `tries` hit, where each does with the chance `share`. By logarithms: the terms are tiny. */
function chanceOfAtMost(most: number, tries: number, share: number): number {
  const odds = Math.log(share) - Math.log1p(-share);
  let term = tries * Math.log1p(-share);
  let sum = 0;
  for (let hits = 0; hits <= most; hits++) {
    sum += Math.exp(term);
    term += Math.log((tries - hits) / (hits + 1)) + odds;
  }
  return sum;
}
