import { sql } from "drizzle-orm";
import { ask, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/block.ts";

const project = relation("dim_projects");

/** What a reader searches for: a text, or a project by its id; or one whose documentation has a host of its own. */
export interface Searched {
  readonly text: string;
  readonly projectId?: string;
  /** The first name of the host, which is a slug where there is such a project. */
  readonly host?: string;
}

/**
 * What a search is for, however it was pasted: `#97236`, or the address of a build or a project on these pages, of the
 * service or of an API, is its number or its slug; so is that of a project's documentation. Any other text is what it is.
 */
export function readSearched(text: string): Searched {
  const number = /^#\s*(\d+)$/.exec(text)?.[1];
  if (number !== undefined) return { text: number };
  const address = addressOf(text);
  if (!URL.canParse(address)) return { text };
  const { pathname, searchParams, hostname } = new URL(address);
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
  if (found === null || found === undefined) {
    const [host = "", ...domain] = hostname.split(".");
    return domain.length > 1 && !/^\d+$/.test(host) ? { text, host } : { text };
  }
  return parts[0] === "api" ? { text, projectId: found } : { text: found };
}

/** A browser copies an address without its scheme, or only its path. */
function addressOf(text: string): string {
  if (/^https?:\/\//i.test(text)) return text;
  if (/^\/(project|build)s?\//.test(text)) return `http://localhost${text}`;
  return /^[\w-]+(\.[\w-]+)*\.[a-z]{2,}(:\d+)?\//i.test(text) ? `http://${text}` : "";
}

/** The same, with the slug of a project that was named by its id or its host. */
export async function findSearched(tx: TransactionSql, searched: string): Promise<string> {
  const { text, projectId, host } = readSearched(searched);
  const isMeant =
    projectId !== undefined
      ? sql`${project.project_id} = ${projectId}`
      : host !== undefined
        ? sql`${project.project_slug} = ${host}`
        : null;
  if (isMeant === null) return text;
  const { slug } = await askEach(tx, {
    slug: ask("dim_projects")`select ${project.project_slug} from ${project} where ${isMeant} limit 1`,
  });
  return String(slug[0]?.project_slug ?? text);
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
