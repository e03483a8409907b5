import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { splitReply } from "../../../src/mirror/api/split-reply.ts";

/** The reply in pieces of so many bytes, and its parts as texts. */
function split(text: string, pieceBytes = 7) {
  const body = Buffer.from(text);
  const pieces = Array.from({ length: Math.ceil(body.length / pieceBytes) }, (_, at) =>
    body.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  );
  const parts = splitReply(pieces);
  return parts && { meta: parts.meta, objects: Buffer.concat(parts.objects).toString() };
}

describe("a reply is split into its meta and the bytes of its objects", () => {
  test.each([
    [
      "as services write it",
      '{"meta": {"limit": 2, "next": null}, "objects": [{"id": 1}, {}]}',
      '[{"id": 1}, {}]',
    ],
    ["with other spaces", ' {\n"meta":{},\t"objects" : [ ] }\r\n', "[ ]"],
    [
      "with braces and brackets in its records",
      '{"meta":{},"objects":[{"a":"]}"},[[]]]}',
      '[{"a":"]}"},[[]]]',
    ],
    ["with objects in its meta", '{"meta":{"objects":[1]},"objects":[2]}', "[2]"],
    ["with an escape in its meta", '{"meta":{"next":"\\u0022é"},"objects":[]}', "[]"],
  ])("%s", (_, text, objects) => {
    expect(split(text)).toEqual({ meta: JSON.parse(text).meta, objects });
  });
});

describe("a reply is not split", () => {
  it.each([
    ["with another order of its keys", '{"objects":[1],"meta":{}}'],
    ["with a third key in front", '{"a":1,"meta":{},"objects":[1]}'],
    ["with a third key between", '{"meta":{},"a":1,"objects":[1]}'],
    ["with a third key behind", '{"meta":{},"objects":[1],"a":1}'],
    ["whose meta holds an object", '{"meta":{"a":{}},"objects":[1]}'],
    ["whose meta has a brace in a text", '{"meta":{"a":"}"},"objects":[1]}'],
    ["whose meta pretends to end in a text", '{"meta":{"a":"},\\"objects\\":["},"objects":[1]}'],
    ["whose meta is no JSON", '{"meta":{a},"objects":[1]}'],
    ["whose objects are none", '{"meta":{},"objects":{"a":[]}}'],
    ["that is cut off", '{"meta":{},"objects":[1,[2]'],
    ["with more behind it", '{"meta":{},"objects":[1]}]}x'],
    ["with a byte order mark", '\uFEFF{"meta":{},"objects":[1]}'],
    ["with other spaces than those of JSON", '{"meta":{},\u00a0"objects":[1]}'],
    ["with a longer meta than any service has", `{"meta":{"a":"${"x".repeat(5000)}"},"objects":[1]}`],
    ["that is a list", "[1]"],
    ["without bytes", ""],
  ])("%s", (_, text) => {
    expect(split(text)).toBeNull();
  });

  it("whose meta is no UTF-8", () => {
    const bytes = Buffer.from('{"meta":{"a":"?"},"objects":[1]}'.replace("?", "\u00ff"), "latin1");
    expect(splitReply([bytes])).toBeNull();
  });
});

test("a second objects, or a second meta behind it, is no JSON list", () => {
  for (const text of [
    '{"meta":{},"objects":[1],"objects":[2]}',
    '{"meta":{},"objects":[1],"meta":{"a":[2]}}',
  ])
    expect(() => JSON.parse(split(text)?.objects ?? "x")).toThrow(SyntaxError);
});

test("what is split is what JSON says, whatever the reply is", () => {
  const key = fc.constantFrom("meta", "objects", "a", '"}],', "\\", "é\u{1f600}");
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom(null, 1, "}", ']}"', '"objects":[', "\\"),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    ),
  })).value;
  const part = fc.record({ meta: json, objects: json }, { requiredKeys: [] });
  fc.assert(
    fc.property(
      part,
      fc.constantFrom(undefined, 1),
      fc.integer({ min: 1, max: 64 }),
      (reply, space, bytes) => {
        const text = JSON.stringify(reply, null, space);
        const parts = split(text, bytes);
        if (parts) expect({ meta: parts.meta, objects: JSON.parse(parts.objects) }).toEqual(JSON.parse(text));
      },
    ),
    { numRuns: 500 },
  );
});
