import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { ExactNumber, foreignNumberIn, parseJson, toJson } from "../../src/resources/parse-json.ts";
import { cpuMsOf } from "../support/cpu-time.ts";

const object = (text: string) => parseJson(text) as Record<string, unknown>;

describe("parseJson", () => {
  test("reads the three numbers of Python and marks all that holds one", () => {
    const read = object(
      '{"objects": [{"id": "1", "a": [{"b": NaN}]}, {"id": "2", "a": Infinity, "b": -Infinity}, {"id": "NaN, \\"Infinity"}]}',
    );
    const objects = read.objects as Record<string, unknown>[];
    expect(objects).toEqual([
      { id: "1", a: [{ b: Number.NaN }] },
      { id: "2", a: Number.POSITIVE_INFINITY, b: Number.NEGATIVE_INFINITY },
      { id: 'NaN, "Infinity' },
    ]);
    expect(objects.map(foreignNumberIn)).toEqual(["NaN", "Infinity", null]);
    expect(foreignNumberIn(read)).toBe("NaN");
    expect(JSON.stringify(objects[0])).toBe('{"id":"1","a":[{"b":null}]}');
  });

  test("marks nothing in plain JSON, a number beyond a double included", () => {
    expect(foreignNumberIn(parseJson('[1e400, "NaN"]'))).toBeNull();
    expect(parseJson("NaN")).toBeNaN();
  });

  test("is JSON.parse for every value without such a number, and reads them at every place", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom("NaN", "Infinity", "-Infinity"), (value, token) => {
        const plain = JSON.stringify(value);
        const read = parseJson(`{"a": ${plain}, "b": [${token}], "__proto__": ${token}}`) as Record<
          string,
          unknown
        >;
        expect(read.a).toEqual(JSON.parse(plain));
        expect(foreignNumberIn(read.a)).toBeNull();
        expect(read.b).toEqual([Number(token)]);
        expect(Object.getOwnPropertyDescriptor(read, "__proto__")?.value).toEqual(Number(token));
      }),
    );
  });

  test.for([
    ...["", "{", '{"a": NaN', '{"a": NaN, "b": "', "{NaN: 1}", "[NaN] NaN", "<html>NaN</html>"],
    ...["[-NaN]", "[--Infinity]", "[1NaN]", "[NaNs]", "[nan]", "[Infinite]", "[Nothing]"],
    `[${"NaN,".repeat(200_000)}1]`,
  ])("refuses other broken JSON: %.40s", (text) => {
    expect(() => parseJson(text)).toThrow(SyntaxError);
  });

  test("reads deep nesting and long texts in linear time", { tags: ["long"] }, () => {
    const deep = `${"[".repeat(100_000)}NaN${"]".repeat(100_000)}`;
    expect(foreignNumberIn(parseJson(deep))).toBe("NaN");
    const quotes = `["${'\\"'.repeat(2_000_000)}${"\\\\".repeat(2_000_000)}", NaN]`;
    expect(foreignNumberIn(parseJson(quotes))).toBe("NaN");
    const unclosed = `[NaN, "${'\\"'.repeat(4_000_000)}`;
    expect(() => parseJson(unclosed)).toThrow(SyntaxError);
    expect(() => parseJson('"'.repeat(8_000_001))).toThrow(SyntaxError);
  });
});

describe("exact numbers", () => {
  const again = (text: string) => toJson(parseJson(text, { isExact: true }));

  it.each([
    ["12345678901234567890"],
    ["-9007199254740993"],
    ["9007199254740993"],
    ["1e400"],
    ["-1.5E+400"],
    ["1e-400"],
    ["0.12345678901234567891"],
    ["[9007199254740993,[-9007199254740993]]"],
    ['{"a":{"b":[1e309]},"c":"12345678901234567890","d":1}'],
    ['"say \\": 12345678901234567890"'],
  ])("%s is written as it was read", (text) => {
    expect(again(text)).toBe(text);
  });

  it.each([
    ["9007199254740992", 2 ** 53],
    ["1234567890123456", 1234567890123456],
    ["12345678901234567000", 12345678901234567000],
    ["100000000000000000000.0", 1e20],
    ["0.10000000000000000", 0.1],
    ["0.00000000000000000", 0],
    ["1.0e308", 1e308],
  ])("%s is the same number in JavaScript, and stays one", (text, number) => {
    expect(parseJson(text, { isExact: true })).toBe(number);
  });

  it("are read only where that is asked for", () => {
    expect(parseJson("[12345678901234567890]")).toEqual([12345678901234567000]);
    expect(parseJson("[12345678901234567890]", { isExact: true })).toEqual([expect.any(ExactNumber)]);
  });

  it("stand beside numbers that JSON does not have", () => {
    const read = parseJson('{"a": [NaN], "b": [12345678901234567890]}', { isExact: true }) as {
      a: [];
      b: [];
    };
    expect([foreignNumberIn(read), foreignNumberIn(read.a), foreignNumberIn(read.b)]).toEqual([
      "NaN",
      "NaN",
      null,
    ]);
    expect(toJson(read.b)).toBe("[12345678901234567890]");
  });

  it("with more than a thousand places are read as JavaScript reads them", () => {
    expect(parseJson("[1e100000]", { isExact: true })).toEqual([Number.POSITIVE_INFINITY]);
  });

  it.each([
    "{12345678901234567890: 1}",
    "[12345678901234567890",
    "[1234567890123456789-1]",
    "[012345678901234567890]",
  ])("%s is no JSON", (text) => {
    expect(() => parseJson(text, { isExact: true })).toThrow(SyntaxError);
  });

  it("give what JSON.parse gives for any other text", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(JSON.parse(toJson(parseJson(text, { isExact: true })))).toEqual(JSON.parse(text));
      }),
    );
  });

  it("are found in linear time", async () => {
    const long = `["${": 1234567890123456789".repeat(100_000)}", ${"1".repeat(1_000_000)}, [${"12345678901234567890,".repeat(50_000)}1]]`;
    expect(await cpuMsOf(() => void parseJson(long, { isExact: true }))).toBeLessThan(3000);
  });
});
