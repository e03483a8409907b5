import { html } from "./html.ts";
import { foreign, type Markup } from "./words.ts";

/** What may be the cause is framed; what is only a place is not. */
const FRAMED = ["‹name›", "‹address›"];
const TOKEN = /(‹(?:name|address|path|number|hash|date)›)/;

/** What error lines share, with its masks: they never look like a part of the line. */
export function renderMask(mask: unknown, maxLength = 300): Markup {
  if (mask === null || mask === undefined || mask === "") return html`(no error line)`;
  return html`${String(mask)
    .slice(0, maxLength)
    .split(TOKEN)
    .map((part, place) => {
      if (place % 2 === 0) return part === "" ? "" : foreign(part, maxLength);
      return FRAMED.includes(part) ? html`<i>${part}</i>` : html`<i class="at">${part}</i>`;
    })}`;
}

/** Whether the mask hides what may be the cause, so that its builds may have several causes. */
export const hidesCause = (mask: unknown): boolean => FRAMED.some((token) => String(mask).includes(token));
