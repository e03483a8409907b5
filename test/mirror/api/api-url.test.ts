import { describe, expect, it } from "vitest";
import { apiUrl, isSameEndpoint } from "../../../src/mirror/api/api-url.ts";

const url = (path: string, base: string) => apiUrl(path, new URL(base))?.href ?? null;

describe("apiUrl", () => {
  it.each([
    ["http://h", "/api/v1/", "http://h/api/v1/?format=json"],
    ["http://h/", "/api/v1/user/?limit=5", "http://h/api/v1/user/?limit=5&format=json"],
    ["http://h", "/api/v1/user/?format=xml", "http://h/api/v1/user/?format=json"],
    ["http://h", "/api/v1/user/#top", "http://h/api/v1/user/?format=json"],
    ["http://h", "http://h/api/v1/user/", "http://h/api/v1/user/?format=json"],
    ["http://h:80", "http://h/api/v1/user/", "http://h/api/v1/user/?format=json"],
    ["http://h", "/api/v2/docsearch/?q=a%20b", "http://h/api/v2/docsearch/?q=a+b&format=json"],
    ["http://h/old", "/api/v1/user/", "http://h/old/api/v1/user/?format=json"],
    ["http://h/old/", "/api/v1/user/", "http://h/old/api/v1/user/?format=json"],
    ["http://h/old", "/old/api/v1/user/", "http://h/old/api/v1/user/?format=json"],
    ["http://h/old", "http://h/api/v1/user/", "http://h/old/api/v1/user/?format=json"],
    ["http://h/a/b", "/api/v1/user/", "http://h/a/b/api/v1/user/?format=json"],
    ["http://h/api", "/api/v1/user/", "http://h/api/api/v1/user/?format=json"],
    ["http://h/api", "/api/api/v1/user/", "http://h/api/api/v1/user/?format=json"],
    ["http://me:secret@h", "/api/v1/user/", "http://h/api/v1/user/?format=json"],
    ["http://h", "/api/v1/project/d%C3%B6cs/", "http://h/api/v1/project/d%C3%B6cs/?format=json"],
    ["http://[::1]:8000", "/api/v1/user/", "http://[::1]:8000/api/v1/user/?format=json"],
  ])("below %s makes of %s %s", (base, path, expected) => {
    expect(url(path, base)).toBe(expected);
  });

  it.each([
    ...["http://elsewhere/api/v1/user/", "https://h/api/v1/user/", "http://h:8080/api/v1/user/"],
    ...["//elsewhere/api/v1/user/", "\\\\elsewhere\\api\\v1\\user\\", "http://me:secret@h/api/v1/user/"],
    ...["/admin/", "/api", "/apis/v1/user/", "/api/../admin/", "/api/%2e%2e/admin/"],
    ...["javascript:alert(1)", "data:application/json,{}", "http://", ""],
  ])("leads nowhere for %j", (path) => {
    expect(url(path, "http://h")).toBeNull();
  });
});

describe("isSameEndpoint", () => {
  const isSame = (link: string) => isSameEndpoint(link, "/~docs/api/v1/user/", new URL("http://h/~docs"));

  it.each([
    ["/api/v1/user/?limit=20&offset=40"],
    ["/~docs/api/v1/user/?limit=20"],
    ["/%7Edocs/api/v1/user/?limit=20"],
    ["/rtd/api/v1/user/"],
    ["/api/v1/user?limit=20"],
    ["https://h/api/v1/user/"],
    ["http://backend:8000/rtd/api/v1/user/"],
    ["//backend/api/v1/user/"],
  ])("%s is the list of users, as its server sees it", (link) => {
    expect(isSame(link)).toBe(true);
  });

  it.each([
    ["/api/v1/build/?limit=20"],
    ["/api/v2/user/"],
    ["/api/v1/user/7/"],
    ["/api/v1/"],
    ["/user/?from=/api/v1/user/"],
    ["javascript:alert(1)"],
    ["http://"],
    [""],
  ])("%j is not", (link) => {
    expect(isSame(link)).toBe(false);
  });
});
