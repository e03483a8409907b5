import { describe, expect, it } from "vitest";
import { renderJson, renderPage } from "../../../src/serve/protocol/replies.ts";

describe("rendered JSON", () => {
  it.each([
    ['{"id":"1","__proto__":{"a":1},"b":2}', '{"__proto__":{"a":1},"b":2,"id":"1"}'],
    [
      '{"id":"1","__proto__":"text","b":[{"z":1,"__proto__":null}]}',
      '{"__proto__":"text","b":[{"__proto__":null,"z":1}],"id":"1"}',
    ],
    ['{"constructor":1,"__proto__":{"z":1,"a":2}}', '{"__proto__":{"a":2,"z":1},"constructor":1}'],
  ])("%s keeps every field", (sent, sorted) => {
    expect(renderJson(JSON.parse(sent), false).toString()).toBe(sorted);
  });

  it.each([false, true])("of a page is that of its envelope (ASCII alone: %s)", async (ascii) => {
    const meta = { total_count: 2, limit: 20 };
    for (const objects of [[], [{ b: "é", a: [{ d: 1, c: null }] }, { id: "2" }]])
      expect(await renderPage(meta, objects, ascii)).toEqual(renderJson({ meta, objects }, ascii));
  });
});
