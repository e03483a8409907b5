import { describe, expect, test } from "vitest";
import { charsetOf, decodePage, decodeReply } from "../../../src/mirror/api/body.ts";

describe("charsetOf", () => {
  test.each([
    [undefined, "utf-8", null],
    ["application/json", "utf-8", null],
    ["application/json; charset=UTF-8", "utf-8", null],
    ['application/json; charset="iso-8859-1"', "windows-1252", null],
    ["application/json;charset=Shift_JIS; x=y", "shift_jis", null],
    ["application/json; charset=klingon", "utf-8", "klingon"],
  ])("of %j is %s", (type, name, unknown) => {
    expect(charsetOf(type)).toEqual({ name, unknown });
  });
});

describe("decodeReply", () => {
  test.each([
    ["utf-8", Buffer.from('"caf\u00e9 \u{1f600}"'), '"caf\u00e9 \u{1f600}"'],
    ["utf-8", Buffer.from('\ufeff"a"'), '"a"'],
    ["utf-8", Buffer.from('"\ufffd"'), '"\ufffd"'],
    ["windows-1252", Buffer.from('"caf\u00e9"', "latin1"), '"caf\u00e9"'],
    ["windows-1252", Buffer.from([0x22, 0x80, 0x22]), '"\u20ac"'],
    // Declared by a default of the server, while its JSON is UTF-8.
    ["windows-1252", Buffer.from('"caf\u00e9 \u{1f600}"'), '"caf\u00e9 \u{1f600}"'],
    ["utf-16le", Buffer.from('\ufeff"\u{1f600}"', "utf16le"), '"\u{1f600}"'],
    ["shift_jis", Buffer.from([0x22, 0x93, 0xfa, 0x22]), '"\u65e5"'],
  ])("reads %s that fits", (charset, body, text) => {
    expect(decodeReply(body, charset)).toEqual({ text, damaged: null });
  });

  test("tells bytes that do not fit from characters that were sent", () => {
    const body = Buffer.concat([
      Buffer.from('["\ufffd", "\\uFFFD", "\\\\ufffd", "'),
      Buffer.from([0xe9, 0xef, 0xbf, 0xbd]),
      Buffer.from('"]'),
    ]);
    const { text, damaged } = decodeReply(body, "utf-8");
    expect(JSON.parse(text)).toEqual(["\ufffd", "\ufffd", "\\ufffd", "\ufffd\ufffd"]);
    expect(JSON.parse(damaged ?? "")).toEqual(["???", "?", "\\ufffd", "\ufffd???"]);
  });

  test("reads what it can of another charset", () => {
    const expected = { text: '"\ufffd"', damaged: '"\ufffd"' };
    expect(decodeReply(Buffer.from([0x22, 0x93, 0x22]), "shift_jis")).toMatchObject(expected);
  });
});

describe("decodePage", () => {
  const bytes = (text: string, encoding: BufferEncoding = "utf8") => Buffer.from(text, encoding);

  test.each<[by: string, body: Buffer, contentType: string, text: string]>([
    ["UTF-8 where nothing names another", bytes("é"), "text/html", "é"],
    ["the header", bytes("é", "latin1"), "text/html; charset=ISO-8859-1", "é"],
    [
      "its own meta element",
      bytes('<meta charset="latin1">é', "latin1"),
      "text/html",
      '<meta charset="latin1">é',
    ],
    [
      "the header, with what ISO-8859-1 lacks",
      Buffer.from([0x93, 0x80]),
      "text/html; charset=ISO-8859-1",
      "\u201c\u20ac",
    ],
    ["its mark before the header", bytes("\ufeffé"), "text/html; charset=latin1", "é"],
    ["UTF-16 with a mark", bytes("\ufeffé", "utf16le"), "", "é"],
    ["UTF-8 for an unknown name", bytes("é"), "text/html; charset=klingon", "é"],
    ["signs of replacement", Buffer.from([0x61, 0xff, 0x62]), "text/html", "a�b"],
  ])("decodes by %s", (_, body, contentType, text) => {
    expect(decodePage(body, contentType)).toBe(text);
  });
});
