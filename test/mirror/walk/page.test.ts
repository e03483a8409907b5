import { describe, expect, it } from "vitest";
import { UnexpectedShapeError } from "../../../src/base/errors.ts";
import { parseListPage } from "../../../src/mirror/walk/page.ts";

const META = { limit: 20, next: null, offset: 0, previous: null, total_count: 2 };
const BASE = new URL("http://h/");
const parse = (value: unknown) => parseListPage(value, "user", "http://h/api/v1/user/", BASE);

describe("parsePage", () => {
  it("gives the numbers, the ids and the records of a page", () => {
    const objects = [{ id: "1" }, { id: 2 }, { name: "no id" }];
    expect(parse({ meta: META, objects })).toEqual({
      meta: { limit: 20, offset: 0, next: null, totalCount: 2, count: 3, showsOrder: false },
      ids: ["1", "2"],
      records: objects,
    });
  });

  it("says whether builds show their order", () => {
    const objects = [
      { id: 2, date: "2026-01-02T00:00:00" },
      { id: 1, date: "2026-01-01T00:00:00" },
    ];
    const isShown = (builds: unknown[]) =>
      parseListPage({ meta: META, objects: builds }, "build", "", BASE).meta.showsOrder;
    expect(isShown(objects)).toBe(true);
    expect(isShown(objects.toReversed())).toBe(false);
  });

  it.each([null, "2", -1, 1.5, 1e300, {}])("takes a total_count of %j for none", (total_count) => {
    expect(parse({ meta: { ...META, total_count }, objects: [] }).meta.totalCount).toBeNull();
  });

  it.each([
    ["objects", { meta: META }],
    ["objects", { meta: META, objects: null }],
    ["meta", { objects: [] }],
    ["meta.next", { meta: { limit: 20 }, objects: [] }],
    ["the reply", [1]],
    ["the reply", null],
  ])("says that %s is not as it should be", (place, value) => {
    const parsing = () => parse(value);
    expect(parsing).toThrow(UnexpectedShapeError);
    expect(parsing).toThrow(`user list: GET http://h/api/v1/user/ should answer with a page`);
    expect(parsing).toThrow(place);
  });

  it("keeps the place of a record of another resource, by an id that is none of the list's", () => {
    const objects = [
      { id: "1", resource_uri: "/api/v1/user/1/" },
      { id: "7", resource_uri: "http://h/api/v1/build/7/" },
    ];
    expect(parse({ meta: META, objects })).toMatchObject({
      ids: ["1", "build/7"],
      meta: { count: 2 },
      records: objects,
    });
  });
});
