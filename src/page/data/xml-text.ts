import { shorten } from "../parts/words.ts";

/** Foreign text for an XML document, cut. XML allows two characters less than HTML does. */
export function xmlText(text: string, maxLength?: number): string {
  return shorten(text, maxLength).replace(/[\ufffe\uffff]/g, "\ufffd");
}
