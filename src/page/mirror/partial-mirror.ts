import { RESOURCES } from "../../resources/resources.ts";
import { renderBlock } from "../parts/block.ts";
import type { Draft } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import type { Freshness } from "../parts/page-moment.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { countWord, type Markup } from "../parts/words.ts";

/** What the builds are of. Without it they could not be read. */
const BUILDS_NEED = ["version", "build"];

/** What a page of builds shows where syncs were told to leave the builds out: what is missing, and how to add it. */
export function drawPartialMirror(freshness: Freshness): Draft {
  const held = RESOURCES.filter((resource) => !freshness.unread.includes(resource));
  const unread = RESOURCES.filter((resource) => freshness.unread.includes(resource));
  const needed = unread.filter((resource) => BUILDS_NEED.includes(resource));
  const sentence = `This mirror holds ${listWords(held)}, but not builds.`;
  const main = html`${renderVerdict({
    look: "idle",
    sentence,
    evidence: html`So nothing here tells whether docs build: its syncs have read ${countWord(held.length)} of the
      ${countWord(RESOURCES.length)} lists.${held.includes("project") ? html` <a href="/projects">Projects</a> can be looked up by name.` : ""}
      ${" "}<a href="/mirror">Mirror</a> shows how fresh they are.`,
  })}
${renderBlock({
  id: "add",
  title: "To add the rest",
  body: html`<ul class="either">
${renderWay(html`<strong>Read all that is missing:</strong> ${listWords(unread)}`, unread)}
${needed.length === unread.length ? "" : renderWay(html`<strong>Or only what this page needs:</strong> ${listWords(needed)}`, needed)}
</ul>`,
})}`;
  return { status: 200, facts: { title: "No builds in this mirror", main } };
}

function renderWay(does: Markup, lists: readonly string[]): Markup {
  const command = `docmirror sync --resource ${lists.join(",")}`;
  return html`<li><div>${does}<pre tabindex="0" role="region" aria-label="Command: ${command}">${command}</pre></div></li>`;
}

function listWords(resources: readonly string[]): string {
  const names = resources.map((resource) => `${resource}s`);
  const last = names.pop() ?? "";
  return names.length === 0 ? last : `${names.join(", ")} and ${last}`;
}
