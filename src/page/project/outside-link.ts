import { html } from "../parts/html.ts";
import { foreign, type Markup } from "../parts/words.ts";

/**
 * A link to an address that the service sent; null for what is no plain web address. The other side does not
 * learn from which page the reader came.
 */
export function outsideLink(address: unknown, words: Markup): Markup | null {
  const href = webAddress(address);
  return href === null ? null : html`<a href="${href}" rel="noreferrer nofollow">${words}</a>`;
}

/** An address as a text, which is a link where it is a web address. */
export function addressText(address: string): Markup {
  const text = foreign(address, 200);
  return outsideLink(address, text) ?? text;
}

const MAX_LENGTH = 2000;

/** The address as the browser understands it. Nothing but http and https, and no password. */
function webAddress(address: unknown): string | null {
  if (typeof address !== "string" || address.length > MAX_LENGTH) return null;
  // Real servers leave out the colon of some.
  const text = address.trim().replace(/^(https?)\/\//i, "$1://");
  if (!URL.canParse(text)) return null;
  const { protocol, username, password, href } = new URL(text);
  const isPlain = (protocol === "http:" || protocol === "https:") && username === "" && password === "";
  return isPlain ? href : null;
}
