import { describe, expect, it } from "vitest";
import { DICTIONARY } from "../../../src/report/dictionary.ts";
import { RESOURCES } from "../../../src/resources/resources.ts";
import { offeredRows } from "../../support/block-offers.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import * as texts from "../../support/page-text.ts";
import { expectGolden } from "../../support/page-words.ts";
import { seedPages } from "../../support/served-pages.ts";

const { blockOf, headingOf, rowsOf, textOf } = texts;

/** The page over a seeded mirror that a statement changed. */
async function pageAfter(statement: string): Promise<string> {
  await using served = await openMirrorPages((url) => seedPages(url, statement));
  return await served.page("/mirror");
}

describe("the page of the mirror", () => {
  const pages = usePages(seedPages);

  it("has the words of its golden file: whether the lists are current, and what was looked for", async () => {
    await expectGolden(pages, "mirror.golden.txt", ["/mirror"]);
    const page = await pages.page("/mirror");
    expect(headingOf(page)).toMatch(/ (?:59 min|1 h) ago\.$/);
    texts.expectHarmless(page, "mirror");
  });

  it("has a row for each list, and for each run with what it did", async () => {
    const page = await pages.page("/mirror");
    const lists = rowsOf(page, "lists");
    const names = RESOURCES.map((name) => `${name[0]?.toUpperCase()}${name.slice(1)}s`);
    expect(lists.map(([name]) => name)).toEqual(names);
    const builds = lists[names.indexOf("Builds")];
    expect(builds?.[1]).toContain("current");
    expect(builds?.[6]).toMatch(/^the new ones, \d+ \w+ \d\d:\d\d; all since \d+ \w+ \d\d:\d\d$/);
    expect(lists[0]?.[6]).toMatch(/^from end to end, \d+ \w+ \d\d:\d\d$/);
    expect(rowsOf(page, "runs").map(([run, end]) => [run, end])).toEqual([
      ["Watch, 1 round3", "succeededsucceeded"],
      ["Sync, all lists from end to end2", "succeededsucceeded"],
      ["Sync, all lists from end to end1", "failedfailed"],
    ]);
  });

  it("draws when it looked, and says the same in words", async () => {
    const looks = blockOf(await pages.page("/mirror"), "looks");
    expect(looks).toMatch(/aria-label="In the 24 hours up to \d+ \w+ \d\d:\d\d: 1 sync, and 1 round/);
  });

  it("offers every block as files, and its SQL, which runs as it is shown", { tags: ["long"] }, async () => {
    const page = await pages.page("/mirror");
    expect(Object.keys(await offeredRows(pages, page))).toHaveLength(7);
  });
});

describe("a mirror that is not well", () => {
  it("says how many records were compared with the service in 30 days, and that some are wrong", async () => {
    const page = await pageAfter(`
      insert into sync.checks (checked_at, lists, suspects) values
        (now() - interval '40 days', '{"user": {"checked": 9, "equal": 9, "wrong": 0}}', '[]'),
        (now() - interval '25 hours', '{"user": {"checked": 4100, "equal": 4100, "wrong": 0}, "build": {"checked": 19, "equal": 19, "wrong": 0}}', '[]'),
        (now(), '{"user": {"checked": 1, "equal": 0, "wrong": 1}}', '[]')`);
    expect(textOf(page)).toContain("Compared with the service: 4,119 of 4,120 records equal in 2 nights.");
    expect(textOf(page)).toContain("A check found 1 wrong record: docmirror status names them.");
  });

  it("says what it lacks, by counts and kinds, and quotes no record", async () => {
    const page = await pageAfter(`
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
      values ('9000', '9999-01-01', 'finished', true, 'html', now(), now(), '')`);
    const [quarantine, references, drift, walks] = ["quarantine", "references", "drift", "walks"].map((id) =>
      textOf(blockOf(page, id)),
    );
    expect(quarantine).toMatch(/Could not be stored 3[\s\S]*2 builds[12] hthe database refused it/);
    expect(quarantine).toMatch(/1 user(?:59 min|1 h)it has no id that can be stored/);
    expect(references).toMatch(
      /Broken references 3[\s\S]*users of 2 projects: 2 users that are not here2[34] hasked/,
    );
    expect(references).toContain("project of 1 build: 1 address that is not here–they lead outside");
    expect(drift).toMatch(/<b>pace<\/b> of builds is new[45] hin records/);
    expect(drift).toMatch(
      /<i>link<\/i> of files differs from reply to reply, .*[56] hDOCMIRROR_IGNORED_FIELDS=file\.<i>link<\/i> leaves it out/,
    );
    expect(walks).toMatch(/files, run 4.*file list: <i>no<\/i> page/);
    expect(rowsOf(page, "lists")[3]?.[1]).toContain("last reading not whole");
    expect(texts.saysOf(page)).toContain("partial: file list: <i>no</i> page.");
    expect(texts.saysOf(page)).toContain("1 build is dated beyond");
    expect(page).not.toContain("secret");
    texts.expectHarmless(page, "unwell");
  });

  it.each([
    [
      "update sync.walks set started_at = started_at - interval '30 hours', finished_at = finished_at - interval '30 hours' where resource = 'file'",
      /^Not current: .*files .* 3[01] h ago\.$/,
    ],
    ["delete from sync.walks where resource = 'user'", /^Not whole: .* users /],
    ["update sync.walks set started_at = started_at + interval '10 years'", /^Not current: a wrong clock/],
  ])("is called so after %s", async (statement, heading) => {
    const page = await pageAfter(statement);
    expect(headingOf(page).replaceAll("\u00a0", " ")).toMatch(heading);
    expect(page).toContain('<section class="verdict warn"');
  });

  it("says since when nothing watches", { tags: ["long"] }, async () => {
    const page = await pageAfter(
      "update sync.runs set started_at = now() - interval '5 hours', finished_at = now() - interval '5 hours' where kind = 'watch'",
    );
    expect(texts.saysOf(page)).toMatch(/Nothing has watched the builds since \d+ \w+ \d\d:\d\d: /);
    const never = await pageAfter("delete from sync.runs where kind = 'watch'");
    expect(texts.saysOf(never)).toContain("Nothing watches the builds: ");
  });

  it("shows how to begin before the first sync, and the runs where there are some", async () => {
    await using served = await openMirrorPages();
    const empty = await served.page("/mirror");
    expect(headingOf(empty)).toContain("Nothing is known yet");
    expect(texts.mainOf(empty)).toContain("docmirror worker");
    expect(empty).toContain('<a href="/mirror" aria-current="page">');
    expect(empty).not.toContain('id="runs"');
    await served.sql.unsafe(`insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host, error)
        values ('full', 'failed', now(), now(), now(), 1, 'test', 'no answer')`);
    const failed = await served.page("/mirror");
    expect(headingOf(failed)).toContain("The first sync ended");
    expect(rowsOf(failed, "runs")[0]?.[1]).toContain("no answer");
    expect(textOf(blockOf(failed, "walks"))).toContain("Not known.");
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
