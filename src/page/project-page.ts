import { html } from "hono/html";
import type { TransactionSql } from "../db/connect.ts";
import { askFor } from "../report/question.ts";
import { askEach } from "./ask-all.ts";
import { renderHead } from "./block.ts";
import type { Address, Draft, Drawing, PageMoment } from "./drawing.ts";
import { feedHref } from "./links.ts";
import { nearestLinks, notice } from "./notice.ts";
import { renderPlainAnswer } from "./plain-answer.ts";
import { findNearestProjects, findProjects } from "./project-names.ts";
import { foreign, shorten } from "./words.ts";

/** The page of a project: what fails, and its last builds. */
export function projectPage({ name }: Address): Drawing {
  return { key: ["project", name], draw: (tx, moment) => draw(tx, name, moment) };
}

async function draw(tx: TransactionSql, slug: string, { now }: PageMoment): Promise<Draft> {
  const projects = await findProjects(tx, slug);
  if (projects.length === 0) {
    const nearest = await findNearestProjects(tx, slug);
    const words = `The mirror has no project ${shorten(slug)}.${nearest.length > 0 ? " Similar names:" : ""}`;
    return {
      status: 404,
      facts: { ...notice("No such project", words, nearestLinks(nearest)), searched: slug },
    };
  }
  const asked = {
    failing: askFor("failing_now", { project: slug, limit: 50 }),
    builds: askFor("fact_builds", { project: slug, limit: 30 }),
  };
  const { failing, builds } = await askEach(tx, asked);
  const main = html`${renderHead(foreign(slug, 200), foreign(String(projects[0]?.repo ?? ""), 200))}
${renderPlainAnswer({
  id: "failing",
  title: "Failing now",
  question: asked.failing,
  columns: [
    "version_slug",
    "type",
    "failures",
    "failing_since",
    "error_class",
    "output_excerpt",
    "last_failed_build_id",
  ],
  rows: failing,
  now,
})}
${renderPlainAnswer({
  id: "builds",
  title: "Last builds",
  question: asked.builds,
  columns: ["build_id", "version_slug", "type", "outcome", "triggered_at", "error_class"],
  rows: builds,
  now,
})}`;
  const feed = { href: feedHref(slug), title: `What broke and was fixed of ${shorten(slug)}` };
  return { status: 200, facts: { title: slug, main, feed } };
}
