import { describe, expect, it } from "vitest";
import { badgeHref } from "../../../src/page/parts/links.ts";
import { usePages } from "../../support/mirror-pages.ts";
import { HOSTILE_SLUGS, refreshPages, seedPages } from "../../support/served-pages.ts";

const pages = usePages((url) =>
  seedPages(url, "update mirror.projects set default_version = 'latest' where id = '1'"),
);

/** Changes the mirror as a run does. */
async function change(statement: string): Promise<void> {
  await pages.sql.unsafe(statement);
  await pages.sql`insert into sync.runs (kind, status, started_at, finished_at, heartbeat_at, pid, host)
      values ('watch', 'succeeded', now(), now(), now(), 1, 'test')`;
  await refreshPages(pages.databaseUrl);
}

const titleOf = async (slug: string) =>
  /<title>(.*?)<\/title>/s.exec(await (await pages.get(badgeHref(slug))).text())?.[1];

describe("the badge of a project", () => {
  it("shows the state of its main docs and the rate of the last 90 days", async () => {
    const reply = await pages.get("/badge/pip.svg");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "image/svg+xml"]);
    expect(reply.headers.get("cache-control")).toBe("public, max-age=300");
    const svg = await reply.text();
    expect(svg).toContain('role="img" aria-label="Documentation of pip: passing.');
    expect(svg).toMatch(/>passing · 75\.0\u00a0%<\/text>/);
    expect(await titleOf("pip")).toBe(
      "Documentation of pip: passing. 75.0\u00a0% of 40 builds of the last 90 days succeeded.",
    );
    const etag = reply.headers.get("etag") ?? "";
    expect((await pages.get("/badge/pip.svg", { headers: { "if-none-match": etag } })).status).toBe(304);
    await change("update mirror.builds set success = false, record_hash = 'x' where id = '1001'");
    expect(await titleOf("pip")).toContain("pip: failing. 72.5");
    await change("update mirror.builds set type = 'pdf', record_hash = 'y' where project_id = '1'");
    expect(await titleOf("pip")).toContain("pip: not known. 72.5");
  });

  it("may be shown by pages elsewhere, and nothing else may", async () => {
    const policy = async (path: string) =>
      (await pages.get(path)).headers.get("cross-origin-resource-policy");
    expect(await policy("/badge/pip.svg")).toBe("cross-origin");
    for (const path of ["/", "/feed.atom", "/report/runs.csv", "/report/runs.json", "/nosuch"]) {
      expect([path, await policy(path)]).toEqual([path, "same-origin"]);
    }
  });

  it("is drawn for every name, and says so for a project that is not there", async () => {
    for (const slug of Object.values(HOSTILE_SLUGS).filter((one) => one !== "")) {
      const reply = await pages.get(badgeHref(slug));
      expect([slug, reply.status]).toEqual([slug, 200]);
      const svg = await reply.text();
      expect(svg).not.toMatch(/<script|<img|<b>|(?!\n)[\p{Cc}\u202e]/u);
      const tags = svg.match(/<[a-z]+ [^>]*>/g)?.join("") ?? "";
      expect(tags.replace(/"[^"]*"/g, "")).not.toMatch(/\son|style|href/);
    }
    for (const slug of ["pipp", "", "a\0b", "<script>"]) {
      const reply = await pages.get(badgeHref(slug));
      expect([reply.status, reply.headers.get("content-type")]).toEqual([404, "image/svg+xml"]);
      const svg = await reply.text();
      expect(svg).toContain(">no such project</text>");
      expect(svg).not.toContain("<script");
    }
    expect((await pages.get("/badge/pip")).status).toBe(404);
    expect((await pages.get("/badge/pip.png")).headers.get("content-type")).toContain("text/html");
  });
});
