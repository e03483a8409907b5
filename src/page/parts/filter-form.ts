import { html } from "./html.ts";
import type { Query } from "./links.ts";
import { type Markup, shorten } from "./words.ts";

/** Hidden fields for what a form keeps. Undefined values are left out. */
function keptFields(kept: Query): Markup {
  return html`${Object.entries(kept)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}`;
}

export interface SelectFacts {
  readonly path: string;
  readonly name: string;
  readonly label: string;
  /** The words for no filter, such as "any error". */
  readonly all: string;
  readonly chosen: string | undefined;
  readonly choices: readonly { readonly value: string; readonly label: string }[];
  readonly kept: Query;
}

/** One filter as a list to choose from. The other filters are kept. */
export function renderSelectForm(facts: SelectFacts): Markup {
  const { path, name, label, all, chosen, choices, kept } = facts;
  const isKnown = chosen === undefined || choices.some(({ value }) => value === chosen);
  const shown = isKnown ? choices : [{ value: chosen, label: shorten(chosen, 40) }, ...choices];
  return html`<form action="${path}">${keptFields(kept)}<label for="${name}-one">${label}</label>
    <select id="${name}-one" name="${name}"><option value="">${all}</option>${shown.map(
      (choice) =>
        html`<option value="${choice.value}"${choice.value === chosen ? html` selected` : ""}>${choice.label}</option>`,
    )}</select><button>Show</button></form>`;
}

export interface SearchFacts {
  readonly path: string;
  readonly label: string;
  readonly placeholder: string;
  readonly searched: string | undefined;
  readonly kept: Query;
}

/** A search by text, as the parameter `q`. The other filters are kept. */
export function renderSearchForm({ path, label, placeholder, searched, kept }: SearchFacts): Markup {
  return html`<form action="${path}" role="search" aria-label="This list">${keptFields(kept)}
    <label class="unseen" for="find">${label}</label>
    <input id="find" name="q" type="search" value="${shorten(searched ?? "", 200)}"
    placeholder="${placeholder}" autocomplete="off" spellcheck="false"><button>Find</button></form>`;
}
