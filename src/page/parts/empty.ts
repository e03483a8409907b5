import { html } from "./html.ts";
import { type MarkKind, mark } from "./mark.ts";
import type { Markup } from "./words.ts";

/**
 * The three states of an empty answer. `none`: it was looked for, and there is none. `unknown`: nobody has
 * looked. `no-match`: the filter leaves nothing, which says nothing about builds.
 */
export type EmptyKind = "none" | "unknown" | "no-match";

const MARKS: Record<EmptyKind, { kind: MarkKind; word: string }> = {
  none: { kind: "good", word: "none" },
  unknown: { kind: "idle", word: "not known" },
  "no-match": { kind: "idle", word: "nothing matches" },
};

export interface EmptyFacts {
  readonly kind: EmptyKind;
  /** The state in some words, such as "None found." */
  readonly strong: string;
  /** With `none` it says how much was looked at; else what to do. */
  readonly say: Markup | string;
  /** Where to go on: links. @default none */
  readonly ways?: readonly Link[];
}

export interface Link {
  readonly href: string;
  readonly words: Markup | string;
}

/** An empty answer that never claims more than is known. */
export function renderEmpty({ kind, strong, say, ways = [] }: EmptyFacts): Markup {
  const { kind: shape, word } = MARKS[kind];
  return html`<div class="empty"><p>${mark(shape, word)} <strong>${strong}</strong> ${say}</p>
    ${ways.length === 0 ? "" : html`<p class="acts-inline">${renderLinks(ways)}</p>`}</div>`;
}

/** Links in one line. */
export function renderLinks(links: readonly Link[]): Markup {
  return html`${links.map(({ href, words }, place) => html`${place > 0 ? " · " : ""}<a href="${href}">${words}</a>`)}`;
}
