import { describe, expect, it } from "vitest";
import { firstRequest, parsePageRequest, requestText } from "../../src/resources/page-request.ts";

const text = (link: string) => {
  const request = parsePageRequest(link);
  return request && requestText(request);
};

describe("parsePageRequest", () => {
  it.each([
    ["/api/v1/user/?limit=20&offset=40", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?format=json&offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?format=xml&offset=40&limit=20", "/api/v1/user/?format=json&limit=20&offset=40"],
    ["/api/v1/user/?username=a%26b&limit=20", "/api/v1/user/?format=json&username=a%26b&limit=20"],
    ["/api/v1/user/?limit=20", "/api/v1/user/?format=json&limit=20"],
    ["/api/v1/user/?limit=20&offset=0", "/api/v1/user/?format=json&limit=20"],
    ["http://h/api/v1/user/?limit=20&offset=40", "http://h/api/v1/user/?format=json&limit=20&offset=40"],
  ])("reads %s, whatever the order of its parameters", (link, expected) => {
    expect(text(link)).toBe(expected);
    expect(text(expected)).toBe(expected);
  });

  it.each([
    [""],
    ["/api/v1/user/"],
    ["/api/v1/user/?offset=40"],
    ["/api/v1/user/?limit=&offset=40"],
    ["/api/v1/user/?limit=all&offset=40"],
    ["/api/v1/user/?limit=20&offset=-20"],
    ["/api/v1/user/?limit=20&offset=x"],
    ["/api/v1/user/?limit=20&offset=1e3"],
    ["/api/v1/user/?limit=20&offset=99999999999999999999"],
    ["http://"],
  ])("finds no page in %j", (link) => {
    expect(text(link)).toBeNull();
  });

  it("reads back the first request of a list", () => {
    const first = firstRequest("/api/v1/build/", 100);
    expect(requestText(first)).toBe("/api/v1/build/?format=json&limit=100");
    expect(parsePageRequest(requestText(first))).toEqual(first);
  });
});
