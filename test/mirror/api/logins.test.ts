import { describe, expect, it } from "vitest";
import { createLoginHider } from "../../../src/mirror/api/logins.ts";

const hide = createLoginHider([new URL("http://me:p%C3%A4ss%@h"), new URL("http://to-ken@proxy"), null]);
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("our logins in a text from outside", () => {
  it.each([
    ["as sent", `got Basic ${base64("me:päss%")}`, "got Basic ***"],
    ["as typed into the URL", "GET http://me:p%C3%A4ss%@h", "GET http://me:***@h"],
    ["as they are", 'wrong password "päss%"', 'wrong password "***"'],
    ["a user name that is a token", "no such token: to-ken", "no such token: ***"],
    ["a token as sent", base64("to-ken:"), "***"],
  ])("are hidden: %s", (_how, text, shown) => expect(hide(text)).toBe(shown));

  it("are no short words, and none where there is no login", () => {
    expect(createLoginHider([new URL("http://me:a@h")])("a database")).toBe("a database");
    expect(createLoginHider([new URL("http://h"), null])("http://h")).toBe("http://h");
  });

  it("hides the value of a header that holds a login, with and without its scheme, and no other", () => {
    const headers = { authorization: "Token abcdef", "x-api-key": "uvwxyz", from: "someone" };
    expect(createLoginHider([], headers)("Token abcdef, abcdef, uvwxyz, someone")).toBe(
      "***, ***, ***, someone",
    );
  });
});
