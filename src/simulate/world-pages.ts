import type { FileRow } from "./population.ts";
import { createRandom, hash, STREAM, sentence } from "./random.ts";
import { filePath, pagePath, type WorldParts } from "./records.ts";

/** A page of documentation, as the service's web server sends it. */
export interface WorldPage {
  html: string;
  etag: string;
  lastModified: Date;
}

export type WorldPages = ReturnType<typeof createWorldPages>;

/** The pages of the files. Two files with the same address have one page, as on a real server. */
export function createWorldPages({ settings, population }: WorldParts) {
  const { seed, missingPageShare, startAt } = settings;
  const edits = new Map<string, { edition: number; at: Date }>();
  let known: { revision: number; byPath: Map<string, FileRow> } | undefined;

  function textOf(path: string): string {
    const edition = edits.get(path)?.edition ?? 0;
    const random = createRandom(hash(seed, STREAM.fileText, numberOf(path) + edition));
    let text = sentence(random, 8 + random.int(8));
    for (let more = 1 + random.int(4); more > 0; more--) text += ` ${sentence(random, 6 + random.int(10))}`;
    return text;
  }

  function headingOf(file: FileRow): string {
    const path = filePath(seed, file.id);
    return path.slice(path.lastIndexOf("/") + 1).replace(/\.html$/, "");
  }

  function files(): Map<string, FileRow> {
    const { revision, ordered } = population.files;
    if (known?.revision !== revision) {
      known = { revision, byPath: new Map(ordered.map((file) => [pagePath(seed, file), file])) };
    }
    return known.byPath;
  }

  return {
    /** The heading and the text of a file's page, as a reader sees them. The searches search the same text. */
    text: (file: FileRow) => `${headingOf(file)} ${textOf(pagePath(seed, file))}`,
    /** The heading. Its anchor has the same name. */
    heading: headingOf,
    /** The page at a path without the base path, or undefined. */
    find(path: string): WorldPage | undefined {
      const file = files().get(path);
      if (file === undefined) return undefined;
      const isMissing = hash(seed, STREAM.fileText, numberOf(path) + 0.5e9) < missingPageShare * 2 ** 32;
      if (isMissing) return undefined;
      const heading = headingOf(file);
      const edit = edits.get(path);
      const html =
        `<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"><title>${heading}.html</title></head>\n` +
        `<body>\n<nav><a href="/projects/${file.version.project.slug}/">All versions</a></nav>\n` +
        `<main>\n<h1 id="${heading}">${heading}<a class="headerlink" href="#${heading}">¶</a></h1>\n` +
        `<p>${textOf(path)}</p>\n</main>\n</body>\n</html>\n`;
      const etag = `"${numberOf(path).toString(16)}-${edit?.edition ?? 0}"`;
      return { html, etag, lastModified: edit?.at ?? startAt };
    },
    /** Gives a file's page another text. */
    edit(file: FileRow, at: Date): void {
      const path = pagePath(seed, file);
      edits.set(path, { edition: (edits.get(path)?.edition ?? 0) + 1, at });
    },
  };
}

/** A number below 2^31 that depends on the path alone (FNV-1a). */
function numberOf(path: string): number {
  let number = 0x811c9dc5;
  for (let place = 0; place < path.length; place++) {
    number = Math.imul(number ^ path.charCodeAt(place), 0x01000193);
  }
  return number >>> 1;
}

/**
 * The reply to a request for a page, as web servers answer for files: 304 where the asker has it already
 * (`If-None-Match`, else `If-Modified-Since`), and no body for HEAD. 404 for no page.
 */
export function pageReply(request: Request, page: WorldPage | undefined): Response {
  if (page === undefined) {
    return new Response("<h1>Not found</h1>", { status: 404, headers: { "content-type": "text/html" } });
  }
  // The header has seconds at best.
  const modifiedMs = Math.floor(page.lastModified.getTime() / 1000) * 1000;
  const headers = { etag: page.etag, "last-modified": new Date(modifiedMs).toUTCString() };
  const tags = request.headers.get("if-none-match");
  const since = Date.parse(request.headers.get("if-modified-since") ?? "");
  const isKnown = tags === null ? modifiedMs <= since : tags.split(",").some((tag) => isSame(tag, page.etag));
  if (isKnown) return new Response(null, { status: 304, headers });
  const body = request.method === "HEAD" ? null : page.html;
  return new Response(body, { headers: { ...headers, "content-type": "text/html; charset=utf-8" } });
}

/** A server that compresses replies marks their tags as weak. */
function isSame(tag: string, etag: string): boolean {
  return tag.trim().replace(/^W\//, "") === etag || tag.trim() === "*";
}
