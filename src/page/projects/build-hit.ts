import { sql } from "drizzle-orm";
import { askFor } from "../../report/ask.ts";
import { relation } from "../../report/relation.ts";
import { runText } from "../../store/connection/run-statement.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { age } from "../parts/age.ts";
import { html } from "../parts/html.ts";
import { buildHref } from "../parts/links.ts";
import { mark, outcomeMark } from "../parts/mark.ts";
import { projectLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { foreign, kindLabel, type Markup, targetWords } from "../parts/words.ts";

const build = relation("fact_builds");

/** The build whose id was searched for, if there is one. */
export async function findBuildHit(tx: TransactionSql, id: string): Promise<Row | undefined> {
  const { text, params } = askFor("fact_builds", { limit: 1 }, [sql`${build.build_id} = ${id}`]);
  const [row] = await runText<Row>(tx, text, params);
  return row;
}

/** A build that was searched for, with the link to its page. */
export function renderBuildHit(row: Row, now: Date): Markup {
  const { kind, word } = outcomeMark(row.outcome);
  const id = String(row.build_id);
  const why = row.error_class === null ? "" : html`, ${kindLabel(row.error_class)}`;
  return html`<section class="block hit" id="build" aria-labelledby="build-t">
${mark(kind, word)} <h2 id="build-t"><a href="${buildHref(id)}">Build ${foreign(id, 24)}</a></h2>
<p class="note">${word}${why} · ${targetWords(row.version_slug, row.type)} of ${projectLink(row.project_slug)} · ${age(row.triggered_at, now)} ago</p>
</section>`;
}
