import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { foreignNumberIn, parseJson } from "../../src/resources/parse-json.ts";

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

  test("reads deep nesting and long texts in linear time", () => {
    const deep = `${"[".repeat(100_000)}NaN${"]".repeat(100_000)}`;
    expect(foreignNumberIn(parseJson(deep))).toBe("NaN");
    const quotes = `["${'\\"'.repeat(2_000_000)}${"\\\\".repeat(2_000_000)}", NaN]`;
    expect(foreignNumberIn(parseJson(quotes))).toBe("NaN");
    const unclosed = `[NaN, "${'\\"'.repeat(4_000_000)}`;
    expect(() => parseJson(unclosed)).toThrow(SyntaxError);
    expect(() => parseJson('"'.repeat(8_000_001))).toThrow(SyntaxError);
  });
});
