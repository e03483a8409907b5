/**
 * One bad record never costs its page: each case is a page as text, with a good record before and after the bad one, read by
 * JSON.parse and brought by the real loader into a real Postgres.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recordId } from "../../../src/resources/record-id.ts";
import { RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { restoreStored } from "../../support/mirror-rows.ts";
import { hostileJson, hostileRecord, wholeRecord, wireBuild } from "../../support/wire-records.ts";

/** Braces and brackets so deep that Node's own stack is too small to look through them. */
const deep = (open: string, inner: string, close: string) =>
  open.repeat(100_000) + inner + close.repeat(100_000);
const manyFields = Array.from({ length: 5000 }, (_, at) => `"field ${at}": [${at}, null, "x"]`).join();

const nulls = Object.keys(wireBuild("1"))
  .filter((field) => field !== "id")
  .map((field) => `"${field}": null`)
  .join();

/**
 * Members of the bad record as JSON, in place of those that a whole one has; an `id` among them replaces its own. The last is what the record is
 * given back as, where that is not the same.
 */
const STORED: [name: string, resource: Resource, members: string, back?: string][] = [
  ["a number where text was", "user", `"username": 7, "first_name": -0.5e-3`],
  ["text where a boolean was", "version", `"active": "true", "built": "no"`],
  ["a boolean where text was", "user", `"username": false`],
  ["an object where text was", "build", `"output": {"text": [1, {"a": null}]}`],
  ["a list where a reference was", "build", `"project": ["/api/v1/project/1/"]`],
  ["a number where a reference was", "build", `"version": 7`],
  ["text where a list was", "project", `"users": "/api/v1/user/1/"`],
  ["an odd list of users", "project", `"users": ["/api/v1/user/1/", null, 7, {}]`],
  ["a date that no calendar has", "user", `"last_login": "2013-02-30T00:00:00"`],
  ["a date with a zone", "build", `"date": "2013-05-20T06:40:04+02:00"`],
  ["a number where a date was", "build", `"date": 1369032004`],
  ["a date in another spelling", "project", `"pub_date": "2013-05-20 06:40:04.5"`],
  ["a date before Christ", "project", `"modified_date": "-0044-03-15T12:00:00"`],
  ["null everywhere", "build", nulls],
  ["unknown fields", "user", `"shoes": 44, "": "", " ": [[]], "a.b": {"$set": 1}`],
  ["U+0000 in a value", "user", `"username": "a\\u0000b"`, `"username": "a\\ufffdb"`],
  ["U+0000 in a key", "user", `"a\\u0000": {"\\u0000": 1}`, `"a\\ufffd": {"\\ufffd": 1}`],
  ["a lone surrogate in a value", "user", `"username": "\\ud83d"`, `"username": "\\ufffd"`],
  ["a lone surrogate in a key", "user", `"\\udc00k": 1`, `"\\ufffdk": 1`],
  ["keys that are the same once they are cleaned", "user", `"k\\u0000": 1, "k\\ud800": 2`, `"k\\ufffd": 2`],
  ["keys that objects have already", "user", `"__proto__": {"id": "x"}, "constructor": 1, "toString": null`],
  ["more such keys", "user", `"hasOwnProperty": "x", "valueOf": [], "prototype": {"__proto__": 1}`],
  ["a method's name as a value", "build", `"state": "constructor", "type": "__proto__"`],
  ["keys that come twice", "user", `"username": "first", "username": "last", "odd": 1, "odd": 2`],
  ["numbers beyond a double", "user", `"odd": [1e400, -1e400]`, `"odd": ["Infinity", "-Infinity"]`],
  ["integers beyond 2^53", "user", `"odd": 123456789012345678901234567890`],
  [
    "the ends of a double",
    "user",
    `"odd": [5e-324, 1.7976931348623157e308, -0]`,
    `"odd": [5e-324, 1.7976931348623157e308, 0]`,
  ],
  ["5,000 fields", "user", manyFields],
  ["10 MB of text", "build", `"output": "${"ä\\n".repeat(3_500_000)}"`],
  ["10 MB in an unknown field", "user", `"odd": "${"x".repeat(10_000_000)}"`],
  ["a key of 1 MB", "user", `"${"k".repeat(1_000_000)}": 1`],
  ["terminal escapes", "user", `"username": "\\u001b[2J\\u009b31m\\u202e", "\\u001b[2J": 1`],
  ["no field but its id", "project", ""],
  ["no embedded project", "version", `"project": null`],
  ["text for an embedded project", "version", `"project": "my project"`],
  ["a list for an embedded project", "file", `"project": [{"id": "p"}]`],
  ["an embedded project without an id", "file", `"project": {"slug": "p"}`],
  ["an embedded project with an odd id", "file", `"project": {"id": 1.5}`],
  ["a hostile reference", "build", `"project": "/api/v1/project/%00/", "version": "//x y"`],
  ["a reference to no host", "build", `"project": "http://[/api/v1/project/1/"`],
];

type Aside = [name: string, record: string, reason: RegExp];
const ASIDE: Aside[] = [
  ...[
    ...[`"no": "id"`, `"__proto__": {"id": "1"}`],
    ...["null", "true", `{"$oid": "1"}`, `["1"]`, "1.5", "1e300", "1e400", "9007199254740993", `""`]
      .concat(`"${"9".repeat(300)}"`, `"a\\u0000b"`, `"\\ud800"`)
      .map((id) => `"id": ${id}`),
  ].map((id): Aside => [id.slice(0, 30), `{${id}, "username": "x"}`, /no id that can be stored/]),
  ...["null", "7", `"text"`, `["id"]`, "true", `[{"id": "1"}]`].map(
    (record): Aside => [record, record, /no id that can be stored/],
  ),
  ["nested lists without end", `{"id": "deep", "odd": ${deep("[", "", "]")}}`, /cannot be read/],
  ["nested objects without end", `{"id": "deep", "username": ${deep('{"a":', "1", "}")}}`, /cannot be read/],
  ["a record that is nested lists", deep("[", "", "]"), /no id that can be stored/],
];

describe("a page with", () => {
  let loading: Loading;
  beforeAll(async () => {
    loading = await setUpLoading();
  });
  afterAll(() => loading[Symbol.asyncDispose]());

  let pages = 0;
  async function loadBetween(resource: Resource, record: string) {
    pages += 1;
    const neighbours = [`before ${pages}`, `after ${pages}`].map((id) => wholeRecord(resource, id));
    const [before, after] = neighbours.map((one) => JSON.stringify(one));
    const counts = await loading.load(resource, JSON.parse(`[${before}, ${record}, ${after}]`));
    const ids = [...neighbours, JSON.parse(record)].map((one) => recordId(one) ?? "");
    const stored = await restoreStored(loading.sql, resource, ids);
    expect(neighbours.map(({ id }) => stored.get(String(id)))).toEqual(neighbours);
    return { counts, stored };
  }

  const NAME = "%s is stored, and given back as it was sent";
  const isLarge = ([, , members]: (typeof STORED)[number]) => members.length > 5_000_000;
  test.for(STORED.filter((one) => !isLarge(one)))(NAME, isGivenBack);
  test.for(STORED.filter(isLarge))(NAME, { tags: ["long"] }, isGivenBack);

  async function isGivenBack([name, resource, members, back = members]: (typeof STORED)[number]) {
    const id = `"id": "odd ${name}"`;
    const text = (some: string) => `{${[id, ...(some === "" ? [] : [some])].join()}}`;
    const { counts, stored } = await loadBetween(resource, text(members));
    expect(counts).toMatchObject({ inserted: 3, quarantined: 0 });
    expect(canonicalJson(stored.get(`odd ${name}`))).toBe(canonicalJson(JSON.parse(text(back))));
  }

  test.each([
    [7, "7"],
    [-0, "0"],
    [-3, "-3"],
    [9007199254740991, "9007199254740991"],
  ])("the id %d is stored as the text %s", async (id, text) => {
    const { counts, stored } = await loadBetween("build", JSON.stringify({ ...wireBuild("x"), id }));
    expect(counts).toMatchObject({ inserted: 3, quarantined: 0 });
    expect(stored.get(text)).toMatchObject({ id: id === 0 ? 0 : id, state: "triggered" });
  });

  test.each(ASIDE)("%s keeps all but that record, which is put aside", async (_name, record, reason) => {
    const { counts } = await loadBetween("user", record);
    expect(counts).toMatchObject({ inserted: 2, quarantined: 1 });
    const [row] = await loading.sql<{ reason: string; payload: unknown }[]>`
      select reason, payload from sync.quarantine order by id desc limit 1`;
    expect(row?.reason).toMatch(reason);
    expect(row?.reason.length).toBeLessThan(500);
    const sent = record.replaceAll(/\s/g, "");
    if (sent.length > 1000) expect(row?.payload).toBe(sent);
    else {
      const cleaned = record.replaceAll(/\\u0000|\\ud800/g, "\\ufffd").replace("1e400", `"Infinity"`);
      expect(row?.payload).toEqual(JSON.parse(cleaned));
    }
  });
});

describe("a page of anything", () => {
  test("stores every record with an id and puts the rest aside, at random", { tags: ["long"] }, async () => {
    await using loading = await setUpLoading();
    const page = fc.constantFrom(...RESOURCES).chain((resource) =>
      fc.tuple(
        fc.constant(resource),
        fc.array(fc.oneof({ weight: 3, arbitrary: hostileRecord(resource) }, hostileJson), {
          maxLength: 12,
        }),
      ),
    );
    await fc.assert(
      fc.asyncProperty(page, async ([resource, records]) => {
        const ids = new Set(records.map(recordId).filter((id) => id !== null));
        const idless = records.filter((one) => recordId(one) === null).length;
        const { inserted, updated, unchanged, quarantined } = await loading.load(resource, records);
        // An earlier copy of an id is loaded before the last one. Its insert counts, and so may the last copy.
        const counted = inserted + updated + unchanged;
        expect(counted).toBeGreaterThanOrEqual(ids.size);
        expect(counted).toBeLessThanOrEqual(records.length - idless);
        expect(quarantined).toBe(idless);
        const query = `select id from mirror.${resource}s where id = any ($1::text[])`;
        expect(await loading.sql.unsafe(query, [[...ids]])).toHaveLength(ids.size);
      }),
      { numRuns: 40 },
    );
  });
});
