import fc from "fast-check";
import type { Field, FieldKind } from "../../src/resources/declare.ts";
import {
  type BuildRecord,
  DECLARATIONS,
  type FileRecord,
  fieldsOf,
  type ProjectRecord,
  type Resource,
  type UserRecord,
  type VersionRecord,
} from "../../src/resources/resources.ts";

/** `over` replaces fields of a record, and may add unknown ones. */
type Over<R> = Partial<Record<keyof R, unknown>> & Record<string, unknown>;

/**
 * A record with each documented field, as the service sends it. A field that is not given is empty, or null where it may be;
 * no record holds a project then.
 */
export function wholeRecord(
  resource: Resource,
  id: string,
  given: Record<string, unknown> = {},
): Record<string, unknown> {
  const fields = fieldsOf(resource).map(([name, field]) => [name, emptyValue(field)]);
  return { ...Object.fromEntries(fields), id, resource_uri: `/api/v1/${resource}/${id}/`, ...given };
}

function emptyValue({ kind, nullable, to }: Field): unknown {
  if (kind === "uris") return [];
  if (nullable || kind === "embedded") return null;
  if (kind === "boolean") return false;
  if (kind === "datetime") return "2024-05-01T10:00:00.500000";
  return kind === "uri" ? `/api/v1/${to?.name}/1/` : "";
}

export function wireUser(id: string, over: Over<UserRecord> = {}): Record<string, unknown> {
  return wholeRecord("user", id, {
    username: `user-${id}`,
    first_name: "Ada",
    last_login: "2024-05-01T08:00:00.000001",
    ...over,
  });
}

export function wireProject(id: string, over: Over<ProjectRecord> = {}): Record<string, unknown> {
  return wholeRecord("project", id, {
    absolute_url: `/projects/project-${id}/`,
    name: `Project ${id}`,
    slug: `project-${id}`,
    copyright: "2024",
    default_branch: "",
    default_version: "latest",
    documentation_type: "docgen",
    repo: `https://code.example.org/${id}`,
    repo_type: "git",
    requirements_file: "",
    subdomain: `http://project-${id}.example.org/`,
    suffix: ".rst",
    theme: "default",
    pub_date: "2024-04-01T10:00:00",
    ...over,
  });
}

export function wireVersion(
  id: string,
  project: unknown,
  over: Over<VersionRecord> = {},
): Record<string, unknown> {
  return wholeRecord("version", id, {
    slug: "latest",
    verbose_name: "latest",
    identifier: "origin/main",
    active: true,
    built: true,
    project,
    ...over,
  });
}

export function wireFile(id: string, project: unknown, over: Over<FileRecord> = {}): Record<string, unknown> {
  return wholeRecord("file", id, {
    absolute_url: `/docs/${id}.html`,
    name: `${id}.html`,
    path: `docs/${id}.html`,
    project,
    ...over,
  });
}

export function wireBuild(id: string, over: Over<BuildRecord> = {}): Record<string, unknown> {
  return wholeRecord("build", id, {
    date: "2024-05-15T11:00:00.123456",
    state: "triggered",
    success: true,
    type: "html",
    setup: "",
    setup_error: "",
    ...over,
  });
}

/**
 * Any character that UTF-8 can carry. The unit "binary" of fast-check gives the same, but first makes a table of all of them, which takes a
 * second of the processor in each process of the tests.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_f7ff })
  .map((place) => String.fromCodePoint(place < 0xd800 ? place : place + 0x800));

/** Texts as users and broken servers send them: any code unit, U+0000, lone surrogates, names that objects have already. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 12 }),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 })
    .map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    ...["", "\u0000", "a\u0000b", "\ud800", "\udc00x", "__proto__", "constructor", "<b>", "\u001b[2J"],
  ),
);

const date: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    ...["2013-05-20T06:40:04.128622", "2013-05-20T06:40:04", "2013-05-20 06:40:04.5"],
    ...["2013-05-20T06:40:04.000000", "2013-05-20T06:40:04Z", "2013-02-30T00:00:00"],
    ...["0000-00-00T00:00:00", "9999-12-31T23:59:59.999999"],
    ...["Mon, 20 May 2013 06:40:04 -0500", "1369032004"],
  ),
  fc
    .date({
      min: new Date("0001-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59Z"),
      noInvalidDate: true,
    })
    .map((moment) => moment.toISOString().slice(0, -1)),
);

const uri: fc.Arbitrary<string> = fc.oneof(
  fc
    .tuple(fc.constantFrom("project", "user", "version", "build"), fc.nat(9))
    .map(([resource, id]) => `/api/v1/${resource}/${id}/`),
  hostileText,
);

/** Any JSON value, with hostile texts and keys. */
export const hostileJson: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(null, true, false),
    jsonNumber(),
    hostileText,
    fc.array(tie("value"), { maxLength: 3 }),
    fc.array(fc.tuple(hostileText, tie("value")), { maxLength: 3 }).map(toObject),
  ),
})).value;

/** A number that JSON can carry; minus zero comes back from it as zero. */
export function jsonNumber(): fc.Arbitrary<number> {
  return fc.oneof(
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (Object.is(number, -0) ? 0 : number)),
  );
}

const FITTING: Record<FieldKind, () => fc.Arbitrary<unknown>> = {
  string: () => hostileText,
  boolean: () => fc.boolean(),
  datetime: () => date,
  uri: () => uri,
  uris: () => fc.array(uri, { maxLength: 3 }),
  embedded: () => hostileRecord("project"),
};

/** A record of a resource with an id that can be stored, and everything else as bad as it comes. */
export function hostileRecord(resource: Resource): fc.Arbitrary<Record<string, unknown>> {
  const id = fc.oneof(
    fc.nat(30).map(String),
    fc.nat(30),
    fc.string({ unit: "grapheme", minLength: 1, maxLength: 5 }).filter((text) => !text.includes("\u0000")),
  );
  const fields = Object.entries(DECLARATIONS[resource].fields).map(([field, { kind }]) => {
    const fitting = { weight: 6, arbitrary: FITTING[kind]() };
    const value = fc.oneof(fitting, { weight: 1, arbitrary: hostileJson }, fc.constant(null));
    const entry = value.map((one) => [field, one] as const);
    return fc.option(entry, { nil: null, freq: 8 });
  });
  const unknown = fc.array(fc.tuple(hostileText, hostileJson), { maxLength: 3 });
  return fc.tuple(id, fc.tuple(...fields), unknown).map(([recordId, known, more]) => {
    const names = new Set(fieldsOf(resource).map(([name]) => name));
    const later = more.filter(([name]) => !names.has(name));
    return toObject([["id", recordId], ...known.filter((entry) => entry !== null), ...later]);
  });
}

/** As JSON.parse makes it: every key is an own one, `__proto__` too. */
function toObject(entries: readonly (readonly [string, unknown])[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [key, value] of entries)
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  return object;
}
