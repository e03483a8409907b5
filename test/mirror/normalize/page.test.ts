import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanJson, cleanText } from "../../../src/mirror/normalize/clean-text.ts";
import { normalizePage } from "../../../src/mirror/normalize/page.ts";
import { type NormalizedRecord, restoreRecord } from "../../../src/mirror/normalize/record.ts";
import { parseLocalTime } from "../../../src/resources/local-time.ts";
import { fieldOf, RESOURCES, type Resource } from "../../../src/resources/resources.ts";
import { canonicalJson } from "../../support/canonical-json.ts";
import { recordedExchanges } from "../../support/recorded-exchanges.ts";
import { hostileJson, hostileRecord, hostileText } from "../../support/wire-records.ts";

const BASE = { baseUrl: new URL("http://docs.example.org"), sourceTimezone: "Etc/UTC" };

/** There and back again: a record as one page, its rows, and what they give back. */
function thereAndBack(resource: Resource, sent: unknown): unknown {
  const page = normalizePage(resource, [sent], BASE);
  expect(page.rejected).toEqual([]);
  const [row] = page.records;
  if (!row) throw new Error("the record gave no row");
  const project = page.embeddedProjects.find((copy) => copy.id === row.projectId);
  return restore(resource, row, project ? restore("project", project) : null);
}

function restore(
  resource: Resource,
  { id, extra, columns, references }: NormalizedRecord,
  project: Record<string, unknown> | null = null,
): Record<string, unknown> {
  const users = references
    .filter(({ field }) => field === "users")
    .sort((one, other) => one.position - other.position)
    .map(({ uri }) => uri);
  return restoreRecord(resource, { id, extra, columns, users, project });
}

describe.each(RESOURCES)("a %s", (resource) => {
  it("comes back from columns and extra as it was sent, however hostile", () => {
    fc.assert(
      fc.property(hostileRecord(resource), (sent) => {
        const back = thereAndBack(resource, sent);
        expect(canonicalJson(back)).toBe(canonicalJson(cleanJson(sent, { nul: 0 })));
      }),
      { numRuns: 150 },
    );
  });

  it("gives columns that its table can hold: texts, booleans, dates of the calendar, and null", () => {
    fc.assert(
      fc.property(hostileRecord(resource), (sent) => {
        const [row] = normalizePage(resource, [sent], BASE).records;
        const cells = Object.entries({ ...row?.columns, ...row?.logs });
        for (const [column, value] of cells) {
          const { kind } = fieldOf(resource, column.replace(/_uri$/, "")) ?? fieldOf(resource, column) ?? {};
          if (value === null) continue;
          if (kind === "boolean") expect(typeof value).toBe("boolean");
          else if (typeof value !== "string") throw new Error(`${column} holds ${String(value)}`);
          else expect(value.isWellFormed() && !value.includes("\u0000")).toBe(true);
          if (kind === "datetime") expect(parseLocalTime(String(value))?.text).toBe(value);
        }
        expect(JSON.stringify(row?.extra)).not.toMatch(/(?<!\\)(\\\\)*\\u(0000|d[89a-f]..)/i);
      }),
      { numRuns: 100 },
    );
  });

  it("has the same columns whatever it was sent with", () => {
    const names = (sent: unknown) => {
      const [row] = normalizePage(resource, [sent], BASE).records;
      return [...Object.keys(row?.columns ?? {}), ...Object.keys(row?.logs ?? {})];
    };
    fc.assert(
      fc.property(hostileRecord(resource), (sent) => {
        expect(names(sent)).toEqual(names({ id: "1" }));
      }),
      { numRuns: 50 },
    );
  });

  it("as the recorded service sends it needs no extra", () => {
    const lists = recordedExchanges().filter(
      ({ path, status }) => status === 200 && path.startsWith(`/api/v1/${resource}/?`),
    );
    const sent = lists.flatMap(({ body }) => JSON.parse(body).objects as Record<string, unknown>[]);
    const page = normalizePage(resource, sent, BASE);
    expect(page).toMatchObject({ rejected: [], replacedNul: 0 });
    expect(page.records.filter(({ extra }) => extra !== null)).toEqual([]);
    expect(page.embeddedProjects.filter(({ extra }) => extra !== null)).toEqual([]);
    for (const record of sent)
      expect(canonicalJson(thereAndBack(resource, record))).toBe(canonicalJson(record));
  });
});

describe("normalizePage", () => {
  it("keeps both records where one id comes twice: which one counts is the loader's to say", () => {
    const twice = ["a", "b"].map((username) => ({ id: "1", username }));
    const page = normalizePage("user", twice, BASE);
    expect(page.records.map(({ columns }) => columns.username)).toEqual(["a", "b"]);
  });

  it("counts the texts in which a U+0000 was replaced", () => {
    const sent = [{ id: "1", username: "a\u0000b\u0000", odd: ["\u0000", { "\u0000": "fine" }] }];
    const page = normalizePage("user", sent, BASE);
    expect(page.replacedNul).toBe(3);
    expect(page.records[0]?.columns.username).toBe("a\uFFFDb\uFFFD");
  });

  const anyRecord = fc
    .constantFrom(...RESOURCES)
    .chain((resource) => fc.tuple(fc.constant(resource), hostileRecord(resource)));

  it("does not change what it was given", () => {
    fc.assert(
      fc.property(anyRecord, ([resource, sent]) => {
        const before = canonicalJson(sent);
        normalizePage(resource, [sent], BASE);
        expect(canonicalJson(sent)).toBe(before);
      }),
      { numRuns: 100 },
    );
  });
});

describe("references", () => {
  const targets = (resource: Resource, sent: object) =>
    normalizePage(resource, [{ id: "1", ...sent }], BASE).records[0]?.references;

  it("of a build are its project and its version", () => {
    const uris = { project: "/api/v1/project/4/", version: "/api/v1/version/5" };
    const reference = (field: "project" | "version", key: string) => {
      return { field, position: 0, uri: uris[field], target: { kind: "record", resource: field, key } };
    };
    expect(targets("build", uris)).toEqual([reference("project", "4"), reference("version", "5")]);
    expect(targets("build", { project: null, version: { id: "5" } })).toEqual([]);
  });

  it("of a project are its users in their order, double ones too", () => {
    const users = ["/api/v1/user/9/", "/api/v1/user/2/", "/api/v1/user/9/"];
    expect(targets("project", { users })?.map(({ position, uri }) => [position, uri])).toEqual(
      users.map((uri, position) => [position, uri]),
    );
    expect(targets("project", { users: ["/api/v1/user/9/", null] })).toEqual([]);
  });

  it("that name a record of another resource than the field's own are malformed", () => {
    const [reference] = targets("build", { project: "/api/v1/user/4/" }) ?? [];
    expect(reference).toMatchObject({ uri: "/api/v1/user/4/", target: { kind: "malformed" } });
    expect(targets("project", { users: ["/api/v1/project/1/"] })?.[0]?.target).toEqual({ kind: "malformed" });
  });

  it("stand for an embedded project where only its URI was sent", () => {
    const page = normalizePage("version", [{ id: "1", project: "/api/v1/project/4/" }], BASE);
    expect(page.embeddedProjects).toEqual([]);
    expect(page.records[0]).toMatchObject({
      projectId: null,
      references: [{ field: "project", target: { kind: "record", resource: "project", key: "4" } }],
      extra: { values: { project: "/api/v1/project/4/" } },
    });
  });
});

describe("embedded projects", () => {
  const version = (id: string, project: unknown) => ({ id, project });

  it("that are equal come out once a page", () => {
    const project = () => ({ id: "4", slug: "pip", users: ["/api/v1/user/1/"] });
    const files = ["1", "2", "3"].map((id) => version(id, project()));
    const page = normalizePage("file", files, BASE);
    expect(page.records.map(({ projectId }) => projectId)).toEqual(["4", "4", "4"]);
    expect(page.embeddedProjects.map(({ id }) => id)).toEqual(["4"]);
  });

  it.each([
    ["nested fields", () => ({ id: "4", odd: { deep: [{ x: 1 }] } })],
    ["another order", (turn: number) => (turn ? { id: "4", slug: "a" } : { slug: "a", id: "4" })],
  ])("that are equal come out once with %s as well", (_, project) => {
    const page = normalizePage("version", [version("1", project(0)), version("2", project(1))], BASE);
    expect(page.embeddedProjects).toHaveLength(1);
  });

  it("that differ in anything both come out, in their order", () => {
    const copies = [
      { id: "4", slug: "pip", users: ["/api/v1/user/1/"] },
      { id: "4", slug: "pip", users: ["/api/v1/user/1/", "/api/v1/user/2/"] },
      { id: "4", slug: "pip", users: ["/api/v1/user/1/"], odd: null },
      { id: 4, slug: "pip", users: ["/api/v1/user/1/"] },
      { id: "4", slug: "pip" },
    ];
    const versions = copies.map((copy, place) => version(String(place), copy));
    const page = normalizePage("version", versions, BASE);
    expect(page.embeddedProjects).toHaveLength(copies.length);
    expect(page.embeddedProjects.map((row) => canonicalJson(restore("project", row)))).toEqual(
      copies.map(canonicalJson),
    );
    expect(new Set(page.embeddedProjects.map(({ hash }) => hash)).size).toBe(copies.length);
  });

  it("that change do not change the version they stand in, but another id does", () => {
    const hashes = [
      version("1", { id: "4", name: "a" }),
      version("1", { id: "4", name: "b" }),
      version("1", { id: "5", name: "a" }),
      version("1", null),
      version("1", "/api/v1/project/4/"),
      { id: "1" },
    ].map((sent) => normalizePage("version", [sent], BASE).records[0]?.hash);
    expect(hashes[0]).toBe(hashes[1]);
    expect(new Set(hashes).size).toBe(5);
  });
});

describe("cleanText", () => {
  it.each([
    ["plain", "plain", 0],
    ["a\u0000b\u0000", "a\uFFFDb\uFFFD", 1],
    ["\ud83d", "\uFFFD", 0],
    ["\udc00\ud800", "\uFFFD\uFFFD", 0],
    ["\ud83d\ude00", "\ud83d\ude00", 0],
    ["\u0000\ud800", "\uFFFD\uFFFD", 1],
    ["\u0001\u007f\u001b[2J", "\u0001\u007f\u001b[2J", 0],
  ])("%j becomes %j", (text, cleaned, nul) => {
    const replacements = { nul: 0 };
    expect(cleanText(text, replacements)).toBe(cleaned);
    expect(replacements.nul).toBe(nul);
  });

  it("gives what UTF-8 can carry, and leaves it alone the second time", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const cleaned = cleanText(text, { nul: 0 });
        expect(Buffer.from(cleaned).toString()).toBe(cleaned);
        expect(cleaned).not.toContain("\u0000");
        expect(cleanText(cleaned, { nul: 0 })).toBe(cleaned);
        expect(cleaned).toHaveLength(text.length);
      }),
    );
  });
});

describe("cleanJson", () => {
  it("cleans keys and texts at any depth and keeps all else", () => {
    const sent = JSON.parse('{"__proto__": {"a\\u0000": ["\\ud800", 1.5, null, true]}, "constructor": "x"}');
    const cleaned = cleanJson(sent, { nul: 0 });
    expect(JSON.stringify(cleaned)).toBe(
      '{"__proto__":{"a\uFFFD":["\uFFFD",1.5,null,true]},"constructor":"x"}',
    );
  });

  it("leaves a clean value as it is", () => {
    fc.assert(
      fc.property(hostileJson, (value) => {
        const cleaned = cleanJson(value, { nul: 0 });
        expect(canonicalJson(cleanJson(cleaned, { nul: 0 }))).toBe(canonicalJson(cleaned));
      }),
    );
  });
});
