import { describe, expect, it } from "vitest";
import { feedHref } from "../../../src/page/parts/links.ts";
import { openMirrorPages, usePages } from "../../support/mirror-pages.ts";
import { HOSTILE_SLUGS, seedPages } from "../../support/served-pages.ts";

const pages = usePages(seedPages);

/** The watch finds this when every project is gone. */
const ALL_DELETED = `
  update mirror.projects set deleted_at = now();
  insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
  values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`;

const read = async (path: string, headers: Record<string, string> = {}) => {
  const reply = await pages.get(path, { headers });
  return { reply, text: await reply.text() };
};

const inEntries = (feed: string, element: string) =>
  feed
    .split("<entry>")
    .slice(1)
    .map((entry) => new RegExp(`<${element}[^>]*>(.*?)</${element}>`, "s").exec(entry)?.[1]);

describe("the feed of breaks and fixes", () => {
  it("has the newest of each, newest first, with ids that do not depend on the host of the page", async () => {
    const { reply, text } = await read("/project/pip/feed.atom");
    expect(reply.headers.get("content-type")).toBe("application/atom+xml; charset=utf-8");
    // Builds 4, 8, … 40 failed, and the next one of each succeeded.
    expect(inEntries(text, "id")).toEqual(
      [4, 8, 12, 16, 20, 24, 28, 32, 36, 40].flatMap((n) => [
        `tag:docmirror,2026:build/${1000 + n - 1}/fixed`,
        `tag:docmirror,2026:build/${1000 + n}/broke`,
      ]),
    );
    const updated = inEntries(text, "updated");
    expect(updated).toEqual(updated.toSorted().reverse());
    expect(updated[0]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect(text).toContain(`<updated>${updated[0]}</updated>\n<author>`);
    const titles = ["pip: html of latest is fixed", "pip: html of latest broke"];
    expect(inEntries(text, "title").slice(0, 2)).toEqual(titles);
    const [fixed, broke] = inEntries(text, "summary");
    expect(fixed).toMatch(
      /^The build succeeded\. Before, it failed once, first at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
    );
    expect(broke).toBe("The build failed: fatal: unable to access the repository");
    expect(text).toContain(`<link rel="alternate" type="text/html" href="${pages.url}/build/1004"/>`);
    expect(text).toContain(`href="${pages.url}/project/pip/feed.atom"/>`);
  });

  it("names the scheme of the proxy in front, and believes no other header", async () => {
    const headers = { "x-forwarded-proto": "https", "x-forwarded-host": "evil.example" };
    const { text } = await read("/feed.atom", headers);
    expect(text).toContain(`href="${pages.url.replace("http:", "https:")}/feed.atom"`);
    expect(text).not.toContain("evil.example");
    const odd = await read("/feed.atom", { "x-forwarded-proto": "javascript" });
    expect(odd.text).toContain(`href="${pages.url}/feed.atom"`);
  });

  it("is not sent again to a reader who has it", async () => {
    const { reply } = await read("/feed.atom");
    const etag = reply.headers.get("etag") ?? "";
    const again = await read("/feed.atom", { "if-none-match": etag });
    expect([again.reply.status, again.text]).toEqual([304, ""]);
  });

  it("is well-formed for every name, and has no markup of theirs", async () => {
    for (const slug of [undefined, ...Object.values(HOSTILE_SLUGS).filter((one) => one !== "")]) {
      const { reply, text } = await read(feedHref(slug));
      expect([slug, reply.status]).toEqual([slug, 200]);
      expect(inEntries(text, "id").length).toBeGreaterThan(0);
      expect(text).not.toMatch(/<script|<img|<b>|(?!\n)[\p{Cc}\u202e\ufffe\uffff]/u);
      const tags = text.replace(/<\?xml[^>]*>/, "").match(/<[^>]*>/g) ?? [];
      const open: string[] = [];
      for (const tag of tags) {
        expect(tag).toMatch(/^<(?:\/[a-z]+|[a-z]+(?: [a-z:]+="[^"<]*")*\/?)>$/);
        const name = /[a-z]+/.exec(tag)?.[0] ?? "";
        if (tag.startsWith("</")) expect(open.pop()).toBe(name);
        else if (!tag.endsWith("/>")) open.push(name);
      }
      expect(open).toEqual([]);
      expect(text.replace(/&(?:amp|lt|gt|quot|#39);/g, "")).not.toContain("&");
    }
  });

  it("says that a failure is over where its version was deleted", async () => {
    const deleted = `
      update mirror.builds set success = false where project_id = '1' and state = 'finished';
      update mirror.versions set deleted_at = now() where project_id = '1'`;
    await using served = await openMirrorPages((url) => seedPages(url, deleted));
    const text = await served.page("/project/pip/feed.atom");
    expect(inEntries(text, "title")).toContain("pip: html of latest was deleted");
    expect(inEntries(text, "id")[0]).toMatch(/^tag:docmirror,2026:build\/\w+\/deleted$/);
    expect(inEntries(text, "summary")[0]).toMatch(
      /^The version was deleted, so its failure is over\. Before, it failed \d+ times in a row, first at /,
    );
  });

  it("says that a break is over where the service took its result back, and not while the build is built again", async () => {
    const [AGO, FINAL] = ["now() - interval '5 minutes'", "not_before, not_after, run_id, rule"];
    const changed = (id: string, state: string, success: string, before: string) => `
      update mirror.builds set success = ${success}, state = '${state}' where id = '${id}';
      insert into mirror.build_transitions (build_id, seq, to_state, ${FINAL}) values ('${id}', 9, 'finished', ${AGO}, ${AGO}, 1, 'date');
      insert into mirror.changes (resource, record_id, run_id, observed_at, kind, before, after)
      values ('build', '${id}', 2, ${AGO}, 'updated', '${before}', '{"success": ${success}}');`;
    // These builds failed. One is built again, and one was never seen in an end before.
    const taken = `
      insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('watch', 'succeeded', now(), now(), now(), 1, 'test');
      ${changed("1004", "finished", "true", '{"success": false}')}
      ${changed("1008", "building", "true", '{"success": false, "state": "finished"}')}
      ${changed("1012", "finished", "true", '{"success": false, "state": "building"}')}
      delete from mirror.build_transitions where build_id = '1012';`;
    await using served = await openMirrorPages((url) => seedPages(url, taken));
    const text = await served.page("/project/pip/feed.atom");
    expect(inEntries(text, "id").filter((id) => id?.endsWith("withdrawn"))).toEqual([
      "tag:docmirror,2026:build/1004/withdrawn",
    ]);
    expect(inEntries(text, "title")[0]).toBe("pip: html of latest does not fail any more");
    expect(inEntries(text, "summary")[0]).toMatch(
      /^The service took back that this build failed, which began at \d{4}-\d\d-\d\d \d\d:\d\d UTC\.$/,
    );
    expect(text).not.toContain("build/1004/broke");
    expect(await served.page("/feed.atom")).toContain("build/1004/withdrawn");
  });

  it("is a 404 for a project that is not there, and leaves deleted projects out", async () => {
    expect((await read("/project/pipp/feed.atom")).reply.status).toBe(404);
    expect((await read("/project/%ff/feed.atom")).reply.status).toBe(404);
    await using served = await openMirrorPages((url) => seedPages(url, ALL_DELETED));
    await expect.poll(async () => (await served.get("/feed.atom")).status).toBe(200);
    const text = await served.page("/feed.atom");
    expect(text).not.toContain("<entry>");
    expect(text).toMatch(/<updated>\d{4}-\d\d-\d\dT[\d:.]+Z<\/updated>/);
  });
});
