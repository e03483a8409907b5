import { ask } from "../../report/ask.ts";
import { relation } from "../../report/relation.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/ask-all.ts";

const project = relation("dim_projects");

/** What a reader searches for: a text, or a project by its id. */
export interface Searched {
  readonly text: string;
  readonly projectId?: string;
}

/**
 * What a search is for, however it was pasted: `#97236`, or the address of a build or a project on these pages, of the
 * service or of an API, is its number or its slug. Any other text is what it is.
 */
export function readSearched(text: string): Searched {
  const number = /^#\s*(\d+)$/.exec(text)?.[1];
  if (number !== undefined) return { text: number };
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return { text };
  const { pathname, searchParams } = new URL(text);
  const parts = pathname
    .split("/")
    .filter((part) => part !== "")
    .map(decoded);
  const after = (...names: string[]) => {
    const place = parts.findIndex((part) => names.includes(part));
    return place === -1 ? [] : parts.slice(place + 1);
  };
  const build =
    after("builds").find((part) => /^\d+$/.test(part)) ??
    after("build")[0] ??
    (parts.at(-1) === "build" ? searchParams.get("id") : null);
  if (build !== null && build !== undefined) return { text: build };
  const found =
    after("project", "projects", "dashboard")[0] ??
    (parts.at(-1) === "project" ? searchParams.get("slug") : null);
  if (found === null || found === undefined) return { text };
  return parts[0] === "api" ? { text, projectId: found } : { text: found };
}

/** The same, with the slug of a project that was named by its id. */
export async function findSearched(tx: TransactionSql, searched: string): Promise<string> {
  const { text, projectId } = readSearched(searched);
  if (projectId === undefined) return text;
  const { slug } = await askEach(tx, {
    slug: ask("dim_projects")`
select ${project.project_slug} from ${project} where ${project.project_id} = ${projectId} limit 1`,
  });
  const [row] = slug;
  return row === undefined ? text : String(row.project_slug);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
