import { describe, expect, it } from "vitest";
import { anchorLink, docLink, pagePlace, pageUrl } from "../../../src/mirror/content/page-url.ts";

describe("pageUrl", () => {
  const docs = new URL("https://docs.example.org/mirror");

  it.each<[address: string | null, url: string | null]>([
    ["/docs/a/en/latest/index.html", "https://docs.example.org/mirror/docs/a/en/latest/index.html"],
    ["/mirror/docs/a.html", "https://docs.example.org/mirror/docs/a.html"],
    ["docs/a.html#part", "https://docs.example.org/mirror/docs/a.html"],
    ["https://docs.example.org/docs/a.html?b=c", "https://docs.example.org/mirror/docs/a.html?b=c"],
    ["https//docs.example.org/docs/a.html", "https://docs.example.org/mirror/docs/a.html"],
    ["/docs/ä b.html", "https://docs.example.org/mirror/docs/%C3%A4%20b.html"],
    ["/docs/../../../etc/passwd", "https://docs.example.org/mirror/etc/passwd"],
    ["http://docs.example.org/docs/a.html", null],
    ["https://docs.example.org:8443/docs/a.html", null],
    ["https://other.example.org/docs/a.html", null],
    ["//other.example.org/docs/a.html", null],
    ["\\\\other.example.org/docs/a.html", null],
    ["http//other.example.org/docs/a.html", null],
    ["https://me:secret@docs.example.org/docs/a.html", null],
    ["javascript:alert(1)", null],
    ["file:///etc/passwd", null],
    [`/${"a".repeat(5000)}`, null],
    ["https://[", null],
    [" ", null],
    [null, null],
  ])("%j is %j", (address, url) => {
    expect(pageUrl(address, docs)?.href ?? null).toBe(url);
  });

  it("keeps the user and the password of the base out of the address", () => {
    expect(pageUrl("/a.html", new URL("https://me:secret@docs.example.org"))?.href).toBe(
      "https://docs.example.org/a.html",
    );
  });
});

describe("pagePlace", () => {
  it.each<[address: string | null, path: string | null, version: string | null | undefined]>([
    ["/docs/a/en/latest/index.html", "index.html", "latest"],
    ["/docs/a/en/v1.0/guide/ä.html", "guide/ä.html", "v1.0"],
    ["/docs/a/en/f%C3%A9/index.html", "index.html", "fé"],
    ["http//a.docs.example.org/en/stable/x/y.html", "x/y.html", "stable"],
    ["/docs/a/en/latest/other.html", "index.html", "latest"],
    ["/docs/a/latest/index.html", "index.html", "latest"],
    ["/docs/a/en/a%00b/index.html", "index.html", null],
    ["/index.html", "index.html", null],
    ["/docs/a/en/%/index.html", "index.html", "%"],
    ["https://[", "index.html", undefined],
    [null, null, undefined],
  ])("%j with path %j is of version %j", (address, path, version) => {
    expect(pagePlace(address, path)?.version).toBe(version);
  });
});

describe("links", () => {
  const address = {
    absoluteUrl: "/docs/lark-kit/en/v1.13.8/velvet/search.html",
    path: "velvet/search.html",
    name: "search.html",
    url: "http://127.0.0.1:8000/docs/lark-kit/en/v1.13.8/velvet/search.html",
    subdomain: "http://lark-kit.docs.example.org/",
  };

  it("lead below the address of the project, as recorded", () => {
    expect(anchorLink(address, "search")).toBe(
      "http://lark-kit.docs.example.org/en/v1.13.8/velvet/search.html#search",
    );
    const link = "http://lark-kit.docs.example.org/en/v1.13.8/velvet/search";
    expect(docLink(address)).toEqual({ link, path: "velvet/search" });
  });

  it("lead to what was requested where the project has no address", () => {
    expect(anchorLink({ ...address, subdomain: "" }, "a b(c).d#e")).toBe(`${address.url}#a%20b(c).d%23e`);
    const unasked = { ...address, absoluteUrl: "http://host.example/x.html", url: null };
    expect(anchorLink(unasked, "a")).toBe("http://host.example/x.html#a");
  });
});
