import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderHead } from "./block.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { renderEmpty } from "./empty.ts";
import { renderSearchForm } from "./filter-form.ts";
import { projectHref } from "./links.ts";
import { renderPlainAnswer } from "./plain-answer.ts";
import { findNearestProjects } from "./project-names.ts";
import { foreign, type Markup } from "./words.ts";

interface ProjectsChoice {
  /** A part of a slug. */
  readonly q: string | undefined;
}

/** The page of projects: those whose slugs contain a text. */
export function projectsPage({ query }: Address): Drawing {
  const choice = { q: query.get("q")?.replaceAll("\0", "").trim().slice(0, 200) || undefined };
  return { key: ["projects", choice], draw: (tx, moment) => draw(tx, choice, moment) };
}

async function draw(tx: TransactionSql, { q }: ProjectsChoice, { now }: PageMoment): Promise<Draft> {
  const question = askFor("success_rate_by_project", { limit: 50 }, (hold) =>
    q === undefined ? [] : [`strpos(lower(project_slug), ${hold(q.toLowerCase())}) > 0`],
  );
  const { rows } = await askEach(tx, { rows: question });
  const list =
    rows.length === 0 && q !== undefined
      ? renderNoMatch(q, await findNearestProjects(tx, q))
      : renderPlainAnswer({
          id: "projects",
          title: "Projects",
          question,
          columns: ["project_slug", "finished", "succeeded", "success_rate", "last_triggered_at"],
          rows,
          now,
        });
  const main = html`${renderHead("Projects")}
<div class="bar">${renderSearchForm({
    path: "/projects",
    label: "A part of the name, or a build number",
    placeholder: "Part of a name, or a build number",
    searched: q,
    kept: {},
  })}</div>
${list}`;
  const facts = { title: "Projects", tab: "/projects" as const, main };
  return { status: 200, facts: { ...facts, ...(q !== undefined && { searched: q }) } };
}

function renderNoMatch(q: string, nearest: readonly string[]): Markup {
  return renderEmpty({
    kind: "no-match",
    strong: "No project matches.",
    say: html`No slug contains ${foreign(q)}. That says nothing about builds.`,
    ways: [
      ...nearest.map((slug) => ({ href: projectHref(slug), words: html`Did you mean ${foreign(slug)}?` })),
      { href: "/projects", words: "Clear the search" },
    ],
  });
}
