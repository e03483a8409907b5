import { describe, expect, it } from "vitest";
import { runCli, startCli } from "../support/cli.ts";
import { usePages } from "../support/mirror-pages.ts";
import { seedPages } from "../support/served-pages.ts";

const SERVICE =
  "insert into sync.service (base_url, resources, noted_at) values ('https://docs.example.org:8443/rtd', '{}', now());";
const pages = usePages((url) => seedPages(url, SERVICE));
const brandOf = (page: string) => /<a class="brand"[^>]*>(.*?)<\/a>/.exec(page)?.[1];

describe("the name of the service", () => {
  it("stands in the header and the title of every page, in feeds, and in the first line of status", async () => {
    for (const path of ["/", "/trends", "/projects", "/project/pip", "/build/1001", "/errors", "/mirror"]) {
      const page = await pages.page(path);
      expect(brandOf(page), path).toBe("docmirror <small>docs.example.org:8443</small>");
      expect(page, path).toMatch(/<title>.* · docs\.example\.org:8443 · docmirror<\/title>/);
    }
    for (const path of ["/nosuch", "/project/nosuch", "/build/nosuch", "/errors?since=nosuch"])
      expect(brandOf(await (await pages.get(path)).text()), path).toBe(
        "docmirror <small>docs.example.org:8443</small>",
      );
    const feed = await pages.page("/feed.atom");
    expect(feed).toContain("<title>Breaks and fixes of all projects, docs.example.org:8443</title>");
    const ids = feed.match(/<id>[^<]*/g) ?? [];
    expect(ids.length).toBeGreaterThan(5);
    for (const id of ids) expect(id).toMatch(/^<id>tag:docmirror,2026:docs\.example\.org:8443\//);
    const env = { DATABASE_URL: pages.databaseUrl };
    const { stdout } = await runCli(["status"], { env });
    expect(stdout.split("\n")[0]).toBe("mirror of docs.example.org:8443");
  });

  it.each([
    "status",
    "report dim_projects",
    "export --out export",
    "sql values(1)",
    "serve --http-port 0",
  ])("of another service in DOCMIRROR_BASE_URL is what `%s` warns of", { tags: ["long"] }, async (line) => {
    const env = { DATABASE_URL: pages.databaseUrl, DOCMIRROR_BASE_URL: "https://staging.example.org" };
    await using cli = startCli(line.split(" "), { env });
    const [warning] = await cli.waitFor("stderr", /^.*"mirror":.*\}$/m);
    expect(JSON.parse(warning)).toMatchObject({
      mirror: "https://docs.example.org:8443/rtd",
      base_url: "https://staging.example.org",
    });
  });

  it("is demo where `docmirror demo` made the mirror", async () => {
    const [row] = await pages.sql<{ name: string }[]>`select current_database() as name`;
    await pages.sql.unsafe(
      `comment on database "${row?.name}" is 'docmirror demo of http://127.0.0.1:4000/'`,
    );
    expect(brandOf(await pages.page("/"))).toBe("docmirror <small>demo</small>");
    await pages.sql.unsafe(`comment on database "${row?.name}" is null`);
  });
});
