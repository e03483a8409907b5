import { sql } from "drizzle-orm";
import { ask, relation } from "../../report/ask.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach } from "../parts/answers.ts";
import { decodeSegment } from "../parts/links.ts";

const project = relation("dim_projects");

/**
 * The subject of a search, however it was pasted: `#97236`, or the address of a build or a project on these pages, of the
 * service or of an API, is its number or its slug; so is that of a project's documentation, by the first name of its `host`. Any
 * other text is what it is.
 */
export function readSearched(text: string): { text: string; projectId?: string; host?: string } {
  const number = /^#\s*(\d+)$/.exec(text)?.[1];
  if (number !== undefined) return { text: number };
  const address = addressOf(text);
  if (!URL.canParse(address)) return { text };
  const { pathname, searchParams, hostname } = new URL(address);
  const parts = pathname
    .split("/")
    .filter(Boolean)
    .map((part) => decodeSegment(part) ?? part);
  const after = (...names: string[]) => {
    const place = parts.findIndex((part) => names.includes(part));
    return place === -1 ? [] : parts.slice(place + 1);
  };
  const given = (page: string, key: string) => (parts.at(-1) === page ? searchParams.get(key) : null);
  const build =
    after("builds").find((part) => /^\d+$/.test(part)) ?? after("build")[0] ?? given("build", "id");
  if (build !== null) return { text: build };
  const found = after("project", "projects", "dashboard")[0] ?? given("project", "slug");
  if (found !== null) return parts[0] === "api" ? { text, projectId: found } : { text: found };
  const [host = "", ...domain] = hostname.split(".");
  return domain.length > 1 && !/^\d+$/.test(host) ? { text, host } : { text };
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
  if (projectId === undefined && host === undefined) return text;
  const isMeant =
    projectId !== undefined
      ? sql`${project.project_id} = ${projectId}`
      : sql`${project.project_slug} = ${host}`;
  const { slug } = await askEach(tx, {
    slug: ask`select ${project.project_slug} from ${project} where ${isMeant} limit 1`,
  });
  return String(slug[0]?.project_slug ?? text);
}
