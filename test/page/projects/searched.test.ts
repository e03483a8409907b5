import { describe, expect, it } from "vitest";
import { readSearched } from "../../../src/page/projects/searched.ts";

describe("what a search is for", () => {
  it.each([
    ["#97236", "97236"],
    ["# 97236", "97236"],
    ["http://127.0.0.1:8321/build/97236", "97236"],
    ["http://127.0.0.1:8321/build/97236/log.txt", "97236"],
    ["http://127.0.0.1:8321/build?id=..", ".."],
    ["https://docs.example.org/api/v1/build/97236/", "97236"],
    ["https://docs.example.org/builds/pip/97236/", "97236"],
    ["https://docs.example.org/projects/pip/builds/97236/", "97236"],
    ["http://127.0.0.1:8321/project/pip?page=2", "pip"],
    ["http://127.0.0.1:8321/project/100%2525%2Fa", "100%25/a"],
    ["http://127.0.0.1:8321/project?slug=..", ".."],
    ["https://docs.example.org/projects/pip/", "pip"],
    ["https://docs.example.org/dashboard/pip/edit/", "pip"],
    ["docs.example.org/projects/pip/", "pip"],
    ["/build/97236", "97236"],
  ])("%s is %s", (pasted, text) => {
    expect(readSearched(pasted)).toEqual({ text });
  });

  it("is a project by its id in the address of an API", () => {
    const text = "https://docs.example.org/api/v1/project/7/";
    expect(readSearched(text)).toEqual({ text, projectId: "7" });
  });

  const HOSTS = ["https://pip.docs.example.org/en/latest/install.html", "http://pip.docs.example.org"];
  it.each([...HOSTS, "pip.docs.example.org/"])("%s may be the project pip", (text) => {
    expect(readSearched(text)).toEqual({ text, host: "pip" });
  });

  it.each([
    ...["pip", "1.2.3", "a.b/c", "97236", "#pip", "build 5"],
    ...["http://127.0.0.1:8321/", "http://example.org/", "https://", "ftp://x/build/1"],
  ])("%s is itself", (text) => {
    expect(readSearched(text)).toEqual({ text });
  });
});
