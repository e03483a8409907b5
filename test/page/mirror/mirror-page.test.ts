import { describe, expect, it } from "vitest";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { withTestSql } from "../../support/database.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { blockOf, textOf } from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { seedPages } from "../../support/served-pages.ts";

/** What is wrong, where a statement has changed the seeded mirror. */
const UNWELL: Readonly<Record<string, string>> = {
  "with wrong records, among many that were compared": `
    insert into sync.checks (checked_at, lists, suspects) values
      (now() - interval '40 days', '{"user": {"checked": 9, "equal": 9, "wrong": 0}}', '[]'),
      (now() - interval '25 hours', '{"user": {"checked": 4100, "equal": 4100, "wrong": 0}, "build": {"checked": 19, "equal": 19, "wrong": 0}}', '[]'),
      (now(), '{"user": {"checked": 1, "equal": 0, "wrong": 1}}', '[]')`,
  "that lacks records, by counts and kinds, and quotes none": `
    insert into sync.quarantine (run_id, resource, record_id, reason, payload, created_at, resolved_at) values
      (2, 'build', '9', 'could not store build 9: secret', '{"a": 1}', now() - interval '3 hours', null),
      (2, 'build', '8', 'could not store build 8: secret', '{"a": 2}', now() - interval '2 hours', null),
      (2, 'user', null, 'the record has no id that can be stored', '{}', now() - interval '1 hour', null),
      (2, 'user', '7', 'the record cannot be read: secret', '{}', now(), now());
    insert into mirror.unresolved_references (resource, record_id, field, position, uri, status, checked_at, target_resource, target_key) values
      ('project', '1', 'users', 0, '/api/v1/user/77/', 'gone', now() - interval '1 day', 'user', '77'),
      ('project', '1', 'users', 1, '/api/v1/user/78/', 'gone', now() - interval '2 days', 'user', '78'),
      ('build', '1001', 'project', 0, 'https://elsewhere.example/x', 'foreign', null, null, null);
    insert into sync.drift (run_id, resource, field, kind, detail, observed_at) values
      (2, 'build', '<b>pace</b>', 'appeared', 'in records', now() - interval '5 hours'),
      (2, 'file', '<i>link</i>', 'unsteady', 'differs from reply to reply', now() - interval '6 hours');
    insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
    values ('incremental', 'partial', now(), now(), now(), 1, 'test', 'file list: <i>no</i> page');
    insert into sync.walks (run_id, resource, walk, reason, started_at, finished_at)
    values (4, 'file', 'not_whole', 'file list: <i>no</i> page', now(), now());
    insert into mirror.builds (id, date, state, success, type, first_seen_at, changed_at, record_hash)
    values ('9000', '9999-01-01', 'finished', true, 'html', now(), now(), '')`,
  "whose files were read long ago":
    "update sync.walks set started_at = started_at - interval '31 hours', finished_at = finished_at - interval '31 hours' where resource = 'file'",
  "whose users were never read": "delete from sync.walks where resource = 'user'",
  "with a wrong clock": "update sync.walks set started_at = started_at + interval '10 years'",
  "that nothing has watched for hours":
    "update sync.runs set started_at = now() - interval '5 hours', finished_at = now() - interval '5 hours' where kind = 'watch'",
  "with two projects that the list hides": `
    insert into mirror.projects (id, slug, source, listed, first_seen_at, changed_at, record_hash)
    select n::text, 'hidden-' || n, 'reference', false, now(), now(), '' from generate_series(51, 52) as n`,
  "that nothing watches": "delete from sync.runs where kind = 'watch'",
};
const FAILED = `
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
  values ('full', 'failed', now(), now(), now(), 1, 'test', 'no answer')`;

describe("the page of the mirror", () => {
  const pages = usePages(seedPages);

  it("has the words of its golden file: whether the lists are current, what was looked for, what is wrong", async () => {
    const paths = ["/mirror"];
    const unwell = Object.entries(UNWELL).map(([of, change]) => {
      return { of: `a mirror ${of}`, fill: (url: string) => seedPages(url, change), paths };
    });
    const failed = {
      of: "a first sync that failed",
      fill: (url: string) => withTestSql(url, async (sql) => void (await sql.unsafe(FAILED))),
      paths,
    };
    const none = { of: "a mirror that knows nothing", paths };
    await expectGolden("mirror.golden.txt", [{ of: "a good mirror", pages, paths }, ...unwell, none, failed]);
  });

  it("offers every block as files, and its SQL, which runs as it is shown", { tags: ["long"] }, async () => {
    const page = await pages.page("/mirror");
    expect(Object.keys(await offeredRows(pages, page))).toHaveLength(7);
  });
});

describe("the page of the dictionary", () => {
  const pages = usePages();

  it("says what each column of each relation means, before the first sync too; the foot of every page leads there", async () => {
    const page = await pages.page("/dictionary");
    const block = textOf(blockOf(page, "dictionary"));
    // The answer of a relation is seen before it is opened.
    expect(page).toMatch(
      /<summary><code>arrivals<\/code> <small[^>]*>Do builds arrive as usual\?.*?<\/summary>/s,
    );
    expect(block).toMatch(/failing_now.*project_slug.*text/s);
    expect(block).toContain(
      "The shortest time from trigger to finish, in seconds; null while it has not fin",
    );
    expect(await pages.page("/")).toContain('<a href="/dictionary">What each column means</a>');
  });

  it("says what the words of the pages mean; the foot of every page says what the pages are, and leads there", async () => {
    const words = textOf(blockOf(await pages.page("/dictionary"), "words"));
    for (const word of ["Project", "Main docs", "Stuck", "Usual"]) expect(words).toContain(word);
    for (const path of ["/", "/trends", "/project/pip", "/dictionary", "/nosuch"]) {
      const foot = /<footer.*?<\/footer>/s.exec(await (await pages.get(path)).text())?.[0];
      expect(foot, path).toContain('href="/dictionary#words"');
      expect(textOf(foot ?? ""), path).toMatch(/^Builds of documentation.*from a copy that docmirror keeps/);
    }
  });

  it("offers its rows as files, and its SQL", async () => {
    const page = await pages.page("/dictionary");
    const { dictionary } = await offeredRows(pages, page);
    const columns = Object.values(DICTIONARY).flatMap((one) => Object.keys(one.columns));
    expect(dictionary?.length).toBe(columns.length);
  });
});
