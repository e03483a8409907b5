import type { Draft } from "./drawing.ts";
import { type EmptyFacts, renderEmpty } from "./empty.ts";
import { html } from "./html.ts";
import { renderVerdict } from "./verdict-bar.ts";

export interface NoMatchFacts {
  /** The path of the page in the navigation. */
  readonly tab: "/trends" | "/errors";
  /** The name of the page. */
  readonly name: string;
  readonly sentence: string;
  /** What the sentence does not say. */
  readonly evidence: string;
  /** What was chosen, and where to go on. @default nothing */
  readonly empty?: Omit<EmptyFacts, "kind">;
}

/** A page whose choice leaves nothing: that says nothing about builds. */
export function drawNoMatch({ tab, name, sentence, evidence, empty }: NoMatchFacts): Draft {
  const main = html`${renderVerdict({ look: "idle", sentence, evidence })}
${empty === undefined ? "" : renderEmpty({ kind: "no-match", ...empty })}`;
  return { status: 200, facts: { title: `${name}: nothing matches`, tab, main } };
}
