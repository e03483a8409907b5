import { countChange } from "../parts/charts/count-change.ts";
import type { Kind } from "../parts/charts/trends-facts.ts";
import type { MarkKind } from "../parts/mark.ts";
import { lengthWords, type Period } from "../parts/period.ts";
import type { VerdictLook } from "../parts/verdict-bar.ts";
import { counted, grouped, kindLabel, percent, wholePercent } from "../parts/words.ts";

export interface ErrorsVerdict {
  readonly look: VerdictLook;
  readonly mark: { readonly kind: MarkKind; readonly word: string };
  readonly title: string;
  readonly sentence: string;
  readonly evidence: string;
}

const MOST_RISING = 2;

/** What is most, and what rises, of the failures of a period. `finished` counts its builds with a known result. */
export function judgeErrors(kinds: readonly Kind[], finished: number, period: Period): ErrorsVerdict {
  const failed = kinds.reduce((sum, { now }) => sum + now, 0);
  const length = lengthWords(period.days);
  const [most] = kinds;
  if (failed === 0 || most === undefined) {
    const isKnown = finished > 0;
    return {
      look: isKnown ? "good" : "idle",
      mark: isKnown ? { kind: "good", word: "None failed" } : { kind: "idle", word: "Not known" },
      title: isKnown ? "Errors: none failed" : "Errors: not known",
      sentence: isKnown
        ? `No build failed in ${length}; ${counted(finished, "build")} finished.`
        : `No build of ${length} has finished, so none can have failed.`,
      evidence: "",
    };
  }
  const rising = kinds
    .filter((kind) => kind.now > kind.before && !countChange(kind.now, kind.before).isChance)
    .toSorted((a, b) => b.now - b.before - (a.now - a.before));
  // Without a period before, every kind would seem to rise.
  const isRising = period.before !== null && rising.length > 0;
  const share =
    most.now === failed
      ? `all of them say: ${kindLabel(most.name)}`
      : `${grouped(most.now)} of them (${wholePercent(most.now / failed)}) say: ${kindLabel(most.name)}`;
  return {
    look: isRising ? "some" : "idle",
    mark: isRising ? { kind: "bad2", word: "Rising" } : { kind: "flat", word: "Failures" },
    title: `Errors: ${grouped(failed)} failed in ${length}`,
    sentence: `${counted(failed, "build")} failed in ${length}; ${share}.`,
    evidence: `${riseWords(rising, period)}${finished === 0 ? "" : ` Of ${counted(finished, "finished build")} ${percent(failed / finished)} failed.`}`,
  };
}

function riseWords(rising: readonly Kind[], { before, days }: Period): string {
  if (before === null)
    return "The mirror does not know builds of all of the days before, so nothing can be said to rise.";
  if (rising.length === 0) return "No kind rose by more than chance.";
  const [first, ...rest] = rising.slice(0, MOST_RISING).map(({ name, now, before: old }) => ({
    label: `“${kindLabel(name)}”`,
    counts: `${grouped(now)} against ${grouped(old)}`,
  }));
  const others = rest.map(({ label, counts }) => `; ${label} too, ${counts}`).join("");
  return `${first?.label} is on the rise: ${first?.counts} in the ${lengthWords(days)} before${others}.`;
}
