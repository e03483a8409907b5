import { expect, it } from "vitest";
import { webAddress } from "../../../src/page/parts/links.ts";

it.each([
  ["https://docs.example.org/api/", null, "https://docs.example.org/api/"],
  ["http//docs.example.org/", null, "http://docs.example.org/"],
  ["/projects/pip/", "https://docs.example.org/", "https://docs.example.org/projects/pip/"],
  ["/projects/pip/", null, null],
  ["javascript:alert(1)", "https://docs.example.org/", null],
  ["data:text/html,x", null, null],
  ["https://user:secret@docs.example.org/", null, null],
  ["  ", "https://docs.example.org/", null],
  [null, "https://docs.example.org/", null],
  [`https://docs.example.org/${"x".repeat(3000)}`, null, null],
])("%j below %j leads to %j", (text, base, href) => {
  expect(webAddress(text, base ?? undefined)).toBe(href);
});
