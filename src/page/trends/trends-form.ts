import { html } from "../parts/html.ts";
import { dayText, type Period } from "../parts/period.ts";
import { type Markup, shorten } from "../parts/words.ts";

/** The first day, the last one and the format, as one form. */
export function renderTrendsForm(period: Period, type: string | undefined, types: readonly string[]): Markup {
  const day = (name: string, label: string, value: number) =>
    html`<label for="${name}">${label}</label><input id="${name}" name="${name}" type="date" value="${dayText(value)}" min="${dayText(period.known)}">`;
  return html`<form action="/trends" aria-label="Days and format">${day("since", "From", period.first)}
    ${day("until", "to", period.last)}<label for="type">Format</label>
    <select id="type" name="type"><option value="">all</option>${types.map(
      (name) =>
        html`<option value="${name}"${name === type ? html` selected` : ""}>${name === "(none)" ? "not known" : shorten(name, 24)}</option>`,
    )}</select><button>Show</button></form>`;
}
