import { describe, expect, test } from "vitest";
import { isLoopback, readHostName } from "../../../src/base/config/addresses.ts";
import { findProxyRoute, readProxies, showProxy } from "../../../src/base/config/proxies.ts";

const route = (target: string, ...layers: Record<string, string>[]) => {
  const { proxy, because } = findProxyRoute(new URL(target), readProxies(layers));
  return [proxy && showProxy(proxy), because];
};
const HTTP = { HTTP_PROXY: "http://one:3128" };
const HTTPS = { HTTPS_PROXY: "http://two:3128" };

describe("the way to a service", () => {
  test.each([
    ["http://docs.example.org", {}, [null, "no proxy is set"]],
    ["http://docs.example.org", HTTP, ["http://one:3128", "HTTP_PROXY"]],
    ["https://docs.example.org", HTTP, [null, "HTTPS_PROXY is not set"]],
    ["https://docs.example.org", { ...HTTP, ...HTTPS }, ["http://two:3128", "HTTPS_PROXY"]],
    ["http://docs.example.org", HTTPS, [null, "HTTP_PROXY is not set"]],
    ["http://docs.example.org", { ...HTTP, http_proxy: "http://low:1" }, ["http://low:1", "http_proxy"]],
    ["http://docs.example.org", { ...HTTP, http_proxy: "" }, [null, "no proxy is set"]],
    ["http://docs.example.org", { HTTP_PROXY: " proxy:3128 " }, ["http://proxy:3128", "HTTP_PROXY"]],
    ["http://docs.example.org", { HTTP_PROXY: "https://proxy" }, ["https://proxy", "HTTP_PROXY"]],
  ] as const)("%s with %j", (target, variables, expected) => {
    expect(route(target, variables)).toEqual(expected);
  });

  test("is by the environment before .env, in which an empty value says that there is none", () => {
    expect(route("http://h", HTTP, { http_proxy: "http://file:1" })[0]).toBe("http://one:3128");
    expect(route("http://h", {}, { http_proxy: "http://file:1" })[0]).toBe("http://file:1");
    expect(route("http://h", { HTTP_PROXY: "" }, { http_proxy: "http://file:1" })[0]).toBeNull();
  });

  const wrong = ["socks5://proxy:1080", "http://", "://x", "http://proxy:99999", "me:p@ss@:1"];
  test.each(wrong)("%s is no proxy's address", (value) => {
    const found = findProxyRoute(new URL("http://h"), readProxies([{ HTTP_PROXY: value }]));
    expect(found).toEqual({ proxy: null, because: "HTTP_PROXY", isFault: true });
  });

  test("shows no secret of a proxy", () => {
    expect(showProxy(new URL("http://me:hunter2@proxy:3128"))).toBe("http://me:***@proxy:3128");
    expect(showProxy(new URL("http://token@proxy:3128/"))).toBe("http://***@proxy:3128");
  });
});

describe("NO_PROXY", () => {
  const isDirect = (target: string, hosts: string) =>
    route(target, { ...HTTP, ...HTTPS, NO_PROXY: hosts })[0] === null;

  test.each([
    ["http://docs.example.org", "*"],
    ["http://docs.example.org", "docs.example.org"],
    ["http://docs.example.org", "a.org, example.org"],
    ["http://docs.example.org", ".example.org"],
    ["http://docs.example.org", "*.example.org"],
    ["http://example.org", ".example.org"],
    ["http://DOCS.example.org.", "Docs.Example.ORG"],
    ["http://docs.example.org", "docs.example.org:80"],
    ["https://docs.example.org", "docs.example.org:443"],
    ["http://docs.example.org:8080", "docs.example.org:8080 other"],
    ["http://127.0.0.1:8000", "localhost,127.0.0.1"],
    ["http://10.1.2.3", "10.0.0.0/8"],
    ["http://[::1]:8000", "::1"],
    ["http://[::1]:8000", "[::1]:8000"],
    ["http://[fd00::7]", "fd00::/8"],
  ])("%s is asked directly with %s", (target, hosts) => {
    expect(isDirect(target, hosts)).toBe(true);
  });

  test.each([
    ["http://docs.example.org", ""],
    ["http://docs.example.org", ","],
    ["http://docs.example.org", "ample.org"],
    ["http://docs.example.org", "docs.example.org:8080"],
    ["https://docs.example.org", "docs.example.org:80"],
    ["http://example.org", "docs.example.org"],
    ["http://11.1.2.3", "10.0.0.0/8"],
    ["http://10.1.2.3", "10.0.0.0/99, ten/8, /8, 0.1.2.3"],
    ["http://[::1]:8000", "[::1]:8001"],
    ["http://[::1]", "127.0.0.1"],
  ])("%s is asked through the proxy with %s", (target, hosts) => {
    expect(isDirect(target, hosts)).toBe(false);
  });

  test("is named with its entry, and its own case", () => {
    const found = route("http://docs.example.org", HTTP, { no_proxy: "a.org .example.org" });
    expect(found).toEqual([null, "no_proxy has .example.org"]);
  });
});

describe("the name of a host", () => {
  test.each([
    ["Docs.Example.ORG", "docs.example.org"],
    ["docs.example.org.:8321", "docs.example.org"],
    ["127.0.0.1:80", "127.0.0.1"],
    ["[::1]:8321", "::1"],
    ["::1", "::1"],
    ["[2001:DB8:0::1]", "2001:db8::1"],
    ["bücher.example", "xn--bcher-kva.example"],
    ["my_host", "my_host"],
  ])("in %s is %s", (text, name) => {
    expect(readHostName(text)).toBe(name);
  });

  test.each([
    ...["", " ", "a b", "a/b", "a@b", "a?b", "a#b", "a\\b"],
    ...["http://a", "a:b", "a:99999", "[::1"],
  ])("is not to be found in %j", (text) => {
    expect(readHostName(text)).toBeUndefined();
  });

  test.each([
    ...["127.0.0.1", "127.3.2.1", "::1", "localhost", "LOCALHOST."].map((host) => [host, true] as const),
    ...["0.0.0.0", "::", "192.0.2.1", "127.example.org", "mirror"].map((host) => [host, false] as const),
  ])("%s is a loopback: %s", (host, is) => {
    expect(isLoopback(host)).toBe(is);
  });
});
