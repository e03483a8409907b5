import { describe, expect, it } from "vitest";
import { isLoopback, readHostName } from "../../../src/base/config/addresses.ts";

describe("the name of a host", () => {
  it.each([
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

  it.each([
    ...["", " ", "a b", "a/b", "a@b", "a?b", "a#b", "a\\b"],
    ...["http://a", "a:b", "a:99999", "[::1"],
  ])("is not to be found in %j", (text) => {
    expect(readHostName(text)).toBeUndefined();
  });

  it.each([
    ...["127.0.0.1", "127.3.2.1", "::1", "localhost", "LOCALHOST."].map((host) => [host, true] as const),
    ...["0.0.0.0", "::", "192.0.2.1", "127.example.org", "mirror"].map((host) => [host, false] as const),
  ])("%s is a loopback: %s", (host, is) => {
    expect(isLoopback(host)).toBe(is);
  });
});
