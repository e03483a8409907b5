/**
 * `npm run bench:searches`: what a search costs over an index of 50,000 pages, for rare words, for a word on every page, and for each of the three
 * searches. Each is asked 21 times after a first time; the table shows the median and the longest. It goes into docs/internals/performance.md.
 * Options: `--pages 50000`, `--database-url URL` of an empty database.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { silentLog } from "../../src/base/log.ts";
import { findAnchors, findDocs, findFiles } from "../../src/mirror/content/search-contents.ts";
import { type AskedPage, storeContents } from "../../src/mirror/content/stored-pages.ts";
import { readDefinitions } from "../../src/report/definitions.ts";
import { createRandom } from "../../src/simulate/random.ts";
import { connect } from "../../src/store/connection/connect.ts";
import type { Sql } from "../../src/store/connection/sql.ts";
import { openEmbedded } from "../../src/store/embedded/open-embedded.ts";
import { migrate } from "../../src/store/migrate/migrate.ts";

const { values } = parseArgs({
  options: { pages: { type: "string", default: "50000" }, "database-url": { type: "string" } },
});
const pages = Number(values.pages);
const PAGES_OF_A_VERSION = 25;
const WORDS_OF_A_PAGE = 600;
const VOCABULARY = 30_000;

const dataDir = await mkdtemp(join(tmpdir(), "docmirror-bench-searches-"));
const url = values["database-url"];
const database =
  url === undefined ? await openEmbedded({ dataDir, log: silentLog }) : { url, async close() {} };
try {
  const sql = connect(database.url, { applicationName: "docmirror bench", max: 2 });
  try {
    await migrate(database.url, readDefinitions());
    const [known] = await sql<{ pages: number }[]>`select count(*) as pages from mirror.file_contents`;
    if (!known?.pages) await fill(sql);
    await measure(sql);
  } finally {
    await sql.end({ timeout: 5 });
  }
} finally {
  await database.close();
  await rm(dataDir, { recursive: true, force: true });
}

async function measure(sql: Sql): Promise<void> {
  const [size] = await sql<{ kept: string; found: string }[]>`
    select pg_size_pretty(pg_total_relation_size('mirror.file_contents') + pg_total_relation_size('mirror.file_anchors')) as kept,
      pg_size_pretty(pg_relation_size('mirror.file_contents_search') + pg_relation_size('mirror.file_anchors_search')) as found`;
  process.stdout.write(
    `${pages} pages: ${size?.kept} with all indexes, ${size?.found} of them for the words\n`,
  );
  const files =
    (q: string, page = 1) =>
    async () =>
      (await findFiles(sql, { q, page })).total;
  const anchors = (q: string) => async () => (await findAnchors(sql, { q })).length;
  const docs = (q: string) => async () =>
    (await findDocs(sql, { project: "project-1", version: "v1", q }))?.total ?? -1;
  await print("files: a rare word", files("w29000"));
  await print("files: a word on one page in six", files("w300"));
  await print("files: two such words", files("w100 w120"));
  await print("files: a word on every page", files("w0"));
  await print("files: the same, page 20", files("w0", 20));
  await print("files: the same, page 2,000", files("w0", 2000));
  await print("files: three words on nearly every page", files("w0 w1 w2"));
  await print("files: a title", files("Guide 77 of w5"));
  await print("files: a word in every title", files("guide"));
  await print("files: no such word", files("nothing"));
  await print("anchors: a rare word", anchors("w29000"));
  await print("anchors: a word of every page", anchors("overview"));
  await print("anchors: a frequent word", anchors("w0"));
  await print("docs: a word on every page", docs("w0"));
  await print("docs: a rare word", docs("w29000"));
}

async function print(what: string, search: () => Promise<number>): Promise<void> {
  const hits = await search();
  const times: number[] = [];
  for (let turn = 0; turn < 21; turn++) {
    const from = performance.now();
    await search();
    times.push(performance.now() - from);
  }
  times.sort((one, other) => one - other);
  const [median = 0, longest = 0] = [times[10], times[20]];
  process.stdout.write(
    `${what.padEnd(44)} ${String(hits).padStart(7)} hits ${median.toFixed(1).padStart(8)} ms ${longest.toFixed(1).padStart(8)} ms\n`,
  );
}

/** Pages whose words are as frequent as those of a language: the word of rank n stands n times less often than the first. */
async function fill(sql: Sql): Promise<void> {
  const random = createRandom(1);
  const versions = Math.ceil(pages / PAGES_OF_A_VERSION);
  await sql`
    insert into mirror.projects (id, slug, name, subdomain, source, listed, first_seen_at, changed_at, record_hash)
    select n::text, 'project-' || n, 'Project ' || n, 'http://project-' || n || '.docs.example.org/', 'list', n % 100 <> 0, now(), now(), '\\x00'
    from generate_series(1, ${Math.ceil(versions / 4)}::int) as n`;
  await sql`
    insert into mirror.files (id, absolute_url, name, path, project_id, first_seen_at, changed_at, deleted_at, record_hash)
    select n::text, '/docs/project-' || (n / ${PAGES_OF_A_VERSION * 4} + 1) || '/en/v' || (n / ${PAGES_OF_A_VERSION} % 4) || '/page-' || n || '.html',
      'page-' || n || '.html', 'page-' || n || '.html', (n / ${PAGES_OF_A_VERSION * 4} + 1)::text, now(), now(),
      case when n % 500 = 0 then now() end, '\\x00'
    from generate_series(0, ${pages - 1}::int) as n`;
  const word = () => `w${Math.floor(VOCABULARY ** random.next() - 1)}`;
  const words = (count: number) => Array.from({ length: count }, word).join(" ");
  const page = (n: number): AskedPage => ({
    fileId: String(n),
    projectId: String(Math.floor(n / PAGES_OF_A_VERSION / 4) + 1),
    version: `v${Math.floor(n / PAGES_OF_A_VERSION) % 4}`,
    absoluteUrl: `/docs/page-${n}`,
    url: `http://127.0.0.1/docs/page-${n}`,
    askedAt: new Date().toISOString(),
    outcome: {
      kind: "page",
      status: 200,
      validators: { etag: `"${n}"`, lastModified: null },
      receivedAt: new Date().toISOString(),
      content: {
        title: `Guide ${n} of ${word()}`,
        text: words(WORDS_OF_A_PAGE / 2 + random.int(WORDS_OF_A_PAGE)),
        anchors: Array.from({ length: 12 }, (_, place) => ({
          id: `section-${place}`,
          text: place === 0 ? "Overview" : words(1 + random.int(4)),
        })),
      },
    },
  });
  const from = performance.now();
  for (let n = 0; n < pages; n += 100) {
    const batch = Array.from({ length: Math.min(100, pages - n) }, (_, place) => page(n + place));
    await storeContents({ sql, runId: 1, docsUrl: "http://127.0.0.1" }, batch);
  }
  const seconds = (performance.now() - from) / 1000;
  process.stdout.write(
    `stored in ${seconds.toFixed(0)} s, ${((seconds * 1000) / pages).toFixed(2)} ms a page\n`,
  );
  await sql.unsafe("vacuum analyze");
}
