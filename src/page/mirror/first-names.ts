import { counted, grouped } from "../../base/text.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { renderBlock } from "../parts/block.ts";
import { html } from "../parts/html.ts";
import type { Markup } from "../parts/words.ts";

const MOST_NAMES = 500;

/** The names of the projects that are stored while the first sync still reads builds, so that nobody knows their states. */
export async function renderFirstNames(tx: TransactionSql): Promise<Markup> {
  const names = await tx<{ slug: string; name: string; all: number }[]>`
    select coalesce(slug, id) as slug, coalesce(name, '') as name, count(*) over ()::int as all
    from mirror.projects where deleted_at is null order by slug, id limit ${MOST_NAMES}`;
  const all = names[0]?.all ?? 0;
  const shown = all > names.length ? `, of which these are the first ${grouped(names.length)}` : "";
  return renderBlock({
    id: "names",
    title: "The projects",
    body: html`<p class="quiet">${counted(all, "name")}${shown}. Whether their docs build is not known yet.</p>
<ul class="rows">${names.map(
      ({ slug, name }) => html`<li><span>${slug}</span><small>${name === slug ? "" : name}</small></li>
`,
    )}</ul>`,
  });
}
