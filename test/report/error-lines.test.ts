/** Which line of its texts says why a build failed, what it is classified as, and what it has in common with others. */
import { beforeAll, describe, expect, test } from "vitest";
import { refreshReport } from "../../src/report/refresh/refresh.ts";
import { REPORT_SETTINGS } from "../support/reported-mirror.ts";
import { useDatabase } from "../support/use-database.ts";
import { type InsertedRow, insertTables } from "./insert-rows.ts";
import { findErrorLine, findErrorPlace, maskPlaces } from "./model/error-line.ts";

type Texts = Partial<Record<"output" | "error" | "setup" | "setup_error", string>>;

const MARKED = { error: "error: 1", setup_error: "error: 2", output: "error: 3", setup: "error: 4" };
const LINES: readonly (readonly [title: string, texts: Texts, line: string | null])[] = [
  ["`error` is read first", MARKED, "error: 1"],
  ["then `setup_error`", { ...MARKED, error: "" }, "error: 2"],
  ["then `output`", { output: "error: 3", setup: "error: 4" }, "error: 3"],
  ["then `setup`", { error: "no marker", setup: "error: 4" }, "error: 4"],
  ["the last marked line counts", { output: "error: 1\nerror: 2\nmore" }, "error: 2"],
  [
    "without a marker the last line of the first text that is not blank",
    { error: " \n\t\n", setup_error: "one\ntwo\n\n  \n", output: "three" },
    "two",
  ],
  ...[
    ...["ValueError: no", "FATAL: no", "an exception occurred", "Killed", "Traceback of all"],
    ...["Out of memory", "No space left on device"],
  ].map((line) => [`"${line}" is marked`, { output: `${line}\nand on it went` }, line] as const),
  ["errors alone are no marker", { output: "2 errors\nmake stopped" }, "make stopped"],
  [
    "colours, controls and ends go",
    { output: "\t\u001b[1;31mfatal: \u001b[0mno\u0007\u0008 \r\nlast\n" },
    "fatal: no",
  ],
  [
    "400 characters at most, whatever they are",
    { error: `error: ${"🙂".repeat(400)}` },
    `error: ${"🙂".repeat(393)}`,
  ],
  ["4,000 characters from the end are read", { output: `Killed\n${"x".repeat(3993)}` }, "Killed"],
  ["no more than these", { output: `Killed\n${"x".repeat(3994)}` }, "x".repeat(400)],
  [
    "a line that ends in a colon announces the next one",
    { error: "Warning, treated as error:\n\n \u001b[0m\n  docs/x.rst:62: WARNING: no toctree\nend\n" },
    "Warning, treated as error: docs/x.rst:62: WARNING: no toctree",
  ],
  [
    "whatever its colour, and whatever its marker",
    { output: "\u001b[31mException occurred:\u001b[0m \r\n\twhile reading\r\n" },
    "Exception occurred: while reading",
  ],
  [
    "a traceback announces what follows its frames",
    { error: 'Traceback (most recent call last):\n  File "x.py"\n\n    a()\nThemeNotFound no\n' },
    "Traceback (most recent call last): ThemeNotFound no",
  ],
  [
    "both lines have 400 characters at most",
    { error: `error:\n${"x".repeat(400)}` },
    `error: ${"x".repeat(393)}`,
  ],
  [
    "what announces nothing gives way to another marked line",
    { error: "one\nWarning, treated as error:\n \n", setup: "Killed\n" },
    "Killed",
  ],
  ["of the same text too", { error: "fatal: one\nTraceback (most recent call last):\n  File" }, "fatal: one"],
  [
    "but not to a line without a marker",
    { error: "Warning, treated as error:\n", output: "done" },
    "Warning, treated as error:",
  ],
  ["1,000 lines and colours are read", { error: `Killed${"\n\u001b[m".repeat(499)}` }, "Killed"],
  ["of more only as many characters", { error: `Killed${"\n\u001b[m".repeat(500)}x` }, "x"],
  [
    "whichever texts they are in",
    { error: `error:${"\n".repeat(500)}`, output: `Killed${"\n".repeat(500)}` },
    "error:",
  ],
  ["no text, no line", {}, null],
];

/** Where the lines above are, and others at which counting may go wrong. */
const PLACES: readonly (readonly [
  title: string,
  texts: Texts,
  body: string,
  line: number,
  message: number | null,
])[] = [
  ["in the first text", MARKED, "error", 1, null],
  ["in the last text", { setup: "a\n\nerror: b\n" }, "setup", 3, null],
  ["with its message", { output: "a\nerror:\n\n\nb\nc" }, "output", 2, 5],
  ["after all kinds of ends", { error: "a\r\nb\rc\n\rKilled\r\n" }, "error", 5, null],
  [
    "at the end of a long text",
    { output: `${"reading sources\r\n".repeat(100_000)}Killed\r\n\r\n` },
    "output",
    100_001,
    null,
  ],
  [
    "where the part that is read begins between the two characters of an end",
    { output: `a\r\n${"x".repeat(3990)}\nKilled\n\n` },
    "output",
    3,
    null,
  ],
  ["without a marker", { error: "\n", setup_error: "one\ntwo\n\n" }, "setup_error", 2, null],
];

/** Lines of one row differ only in what a fingerprint leaves out; lines of two rows differ in more. */
const ALIKE: readonly (readonly [what: string, ...lines: string[]])[] = [
  ["numbers", "error: 3 of 12 files", "error: 450 of 1 files", "error: 1,234,567 of 2.5 files"],
  ["versions", "error: needs sphinx 1.8.5", "error: needs sphinx 4.0.0", "error: needs sphinx v5.0rc1"],
  ["paths", "error: no /home/docs/checkouts/pip/conf.py", "error: no /srv/b/c.py", "error: no setup.py"],
  ["hashes", "fatal: bad object 0c4fed7b2af45f", `fatal: bad object ${"de3bcbe1".repeat(5)}`],
  ["dates", "error: 2024-11-03 01:30:00 timed out", "error: 2025-01-09 12:00:59 timed out"],
  ["URLs", "error: https://a.example/b?c=1 refused", "error: http://d.example:81/e/f refused"],
  [
    "quoted URLs",
    "error: 'https://a.example/b?c=1' refused",
    'error: "http://d.example" refused',
    "error: 'd' refused",
  ],
  ["nothing", "error: no such option", "error: no such option"],
  [
    "modules",
    "ImportError: No module named 'forest'",
    "ImportError: No module named 'sea.shore'",
    "ImportError: No module named u'forest'",
    "ImportError: No module named forest",
    "lib.errors.ImportError: No module named sea.shore",
  ],
  [
    "packages",
    "ERROR: No matching distribution found for sphinx==1.8.5",
    "ERROR: No matching distribution found for flask>=2,<3",
    "ERROR: No matching distribution found for sphinx[docs, test]~=1.8",
    "ERROR: No matching distribution found for sea-shore",
    "ERROR: No matching distribution found for a.b (from c->-r docs/requirements.txt (line 3))",
  ],
  [
    "requirements",
    "ERROR: Cannot install a==1 and b-c==2.0.* because of conflicts",
    "ERROR: Cannot install d>2, e!=3.1 and f<=4 because of conflicts",
  ],
  [
    "quotes",
    "Error: package 'x' is missing",
    'Error: package "sea shore" is missing',
    "Error: package “x” is missing",
    "Error: package ‘x’ is missing",
    "Error: package `x` is missing",
    "Error: package sea_shore is missing",
  ],
  [
    "LaTeX's quotes",
    "! LaTeX Error: File `foo.sty' not found.",
    "! LaTeX Error: File ``b-1.2.sty'' not found.",
  ],
  [
    "branches",
    "fatal: Remote branch feature/x not found in upstream origin",
    "fatal: Remote branch develop not found in upstream origin",
    "fatal: Remote branch v1.2-fix not found in upstream origin",
  ],
  [
    "places in files",
    "conf.py:12: error: no directive",
    "docs/conf.py:12:34: error: no directive",
    "/srv/index.rst: error: no directive",
  ],
  ["dotted names", "Exception: cannot load sphinx.ext.todo", "Exception: cannot load my_theme.parts"],
  ["inner apostrophes", "error: can't use 'x' here", "error: can't use 'it's' here"],
];

const AS_IS = "the line";
/** What the lines of one fingerprint share, and what builds with the same error share: by default no more than these. */
const MASKS: readonly (readonly [line: string, kind: string, same?: string])[] = [
  ["ImportError: No module named 'sea.shore'", "ImportError: No module named ‹name›", AS_IS],
  ["No module named forest", "No module named ‹name›", AS_IS],
  ["Error: make ran for more than 900 seconds", "Error: make ran for more than ‹number› seconds"],
  ["error: took 1,234.5s of 3 %", "error: took ‹number›s of ‹number› %"],
  ["docs/a/b.rst:62:7: WARNING: no toctree", "‹path›:‹number›:‹number›: WARNING: no toctree"],
  ["index.rst:62: WARNING: no toctree", "‹path›:‹number›: WARNING: no toctree"],
  ["! LaTeX Error: File `foo2.sty' not found.", "! LaTeX Error: File ‹name› not found.", AS_IS],
  [
    "OSError: [Errno 28] No space: '/tmp/ab'",
    "OSError: [Errno ‹number›] No space: ‹path›",
    "OSError: [Errno ‹number›] No space: '‹path›'",
  ],
  ["fatal: bad object 0c4fed7b2af45f", "fatal: bad object ‹hash›"],
  ["fatal: bad object 0C4FED7", "fatal: bad object ‹hash›"],
  ["error: stopped at 0X1f", "error: stopped at ‹hash›"],
  ["error: 3F2504E0-4f89-11d3-9a0c-0305e82c3301 is gone", "error: ‹hash› is gone"],
  ["Error: Package foo is missing", "Error: Package ‹name› is missing", AS_IS],
  ["2024-11-03 01:30:00 stood still", "‹date› stood still"],
  [
    "fatal: unable to access 'https://a.example/b/c': refused",
    "fatal: unable to access ‹address›: refused",
    AS_IS,
  ],
  [
    "error: https://a.example/b 12 times",
    "error: ‹address› ‹number› times",
    "error: https://a.example/b ‹number› times",
  ],
  ["Error: 'foo' 404 times", "Error: ‹name› ‹number› times", "Error: 'foo' ‹number› times"],
  [
    "ERROR: No matching distribution found for sphinx>=1.8,<2",
    "ERROR: No matching distribution found for ‹name›",
    AS_IS,
  ],
  ["error: needs sphinx 1.8.5", "error: needs sphinx ‹number›", AS_IS],
  ["fatal: Remote branch feature/x not found", "fatal: Remote branch ‹name› not found", AS_IS],
];

/** No two have the same fingerprint: names are left out, and words are not. */
const DIFFERENT = [
  ...["wrong", "right"].map((word) => `error: it's ${word} and it's late`),
  ...["here", "there"].map((word) => `error: the users' files aren't ${word}`),
  ...["wrong", "right"].map((word) => `error: it’s ${word} and it’s late`),
  ...["before", "after"].map((word) => `error: 'a' ${word} 'b'`),
  ...["this", "that"].map((word) => `error: "${word} is a long sentence" they said`),
  ...["Theme", "Config"].map((kind) => `sphinx.errors.${kind}Error: no theme named 'x' found`),
  "fatal: unable to access 'https://a.example/b/': Could not resolve host: a.example",
  "fatal: unable to access 'https://a.example/b/': The requested URL returned error: 503",
  ...["error: package 'x' is missing", "error: package 'x' is damaged", "error: the package is missing"],
  ...["docs", "license"].map((what) => `error: module x has no ${what}`),
  ...["sphinx", "docutils"].map((tool) => `error: needs ${tool} 1.8.5`),
  "ERROR: No matching distribution found for x",
  "ERROR: Could not find a version that satisfies the requirement x (from versions: 1.0, 2.0)",
];
const CLASSES = [
  ["error: the second rule", "first"],
  ["error: SECOND alone", "second"],
  ["error: of another kind", "unclassified"],
] as const;
const RULES = [
  { position: 20, pattern: "second", class: "second", note: "" },
  { position: 10, pattern: "^error: the .* rule$", class: "first", note: "" },
];

const database = useDatabase();
const { sql } = database;
type Facts = { error_line: string | null; error_class: string; error_fingerprint: string };
const facts = new Map<string, Facts>();

beforeAll(async () => {
  const logs: InsertedRow[] = [
    ...LINES.map(([title, texts]) => logRow(title, texts)),
    ...ALIKE.flatMap(([, ...lines]) => lines.map((output, at) => logRow(`${at} ${output}`, { output }))),
    ...DIFFERENT.map((output) => logRow(`different ${output}`, { output })),
    ...CLASSES.map(([line]) => logRow(line, { error: line })),
  ];
  const moments = { first_seen_at: "2025-01-01Z", changed_at: "2025-01-01Z" };
  const build = { state: "finished", success: false, ...moments, record_hash: "" };
  await sql`delete from report.error_rules`;
  await insertTables(sql, {
    "mirror.builds": logs.map(({ build_id }) => ({ id: build_id ?? "", ...build })),
    "mirror.build_logs": logs,
    "report.error_rules": RULES,
  });
  await refreshReport(database.sql, REPORT_SETTINGS);
  for (const { build_id, ...fact } of await sql`
      select build_id, error_line, error_class, error_fingerprint from report.fact_builds`)
    facts.set(build_id, fact as never);
});

const NO_TEXTS = { output: null, error: null, setup: null, setup_error: null };
const logOf = (texts: Texts) => ({ id: "", ...NO_TEXTS, ...texts });
const logRow = (build_id: string, texts: Texts): InsertedRow => ({ build_id, ...NO_TEXTS, ...texts });

describe("the error line", () => {
  test.each(LINES)("%s", (title, texts, line) => {
    expect(facts.get(title)?.error_line).toBe(line);
    expect(findErrorLine(logOf(texts))).toBe(line);
  });
});

describe("the place of the error line", () => {
  const placeOf = async (texts: Texts) => {
    const { error, setup_error, output, setup } = logOf(texts);
    const [place] = await sql`
      select * from report.error_place(${error}, ${setup_error}, ${output}, ${setup})`;
    return place;
  };

  test.each(PLACES)("%s", async (_, texts, body, line, message) => {
    expect(await placeOf(texts)).toMatchObject({ body, line_number: line, message_line_number: message });
    expect(findErrorPlace(logOf(texts))).toMatchObject({ body, line, message });
  });

  test("has the error line, and what the model says, for each log", async () => {
    for (const [, texts, line] of LINES) {
      const place = findErrorPlace(logOf(texts));
      const { body = null, line: line_number = null, message: message_line_number = null } = place ?? {};
      expect(await placeOf(texts)).toEqual({ body, line_number, message_line_number, excerpt: line });
    }
  });
});

describe("the class", () => {
  test.each(CLASSES)("of '%s' is %s", (line, expected) => {
    expect(facts.get(line)?.error_class).toBe(expected);
  });
});

describe("the fingerprint", () => {
  const printOf = (line: string, index: number | string) => facts.get(`${index} ${line}`)?.error_fingerprint;

  test.each(ALIKE)("is the same where lines differ in %s", (_what, ...lines) => {
    expect(new Set(lines.map(printOf)).size).toBe(1);
    expect(printOf(lines[0] ?? "", 0)).toMatch(/^[0-9a-f]{16}$/);
  });

  test("is another one where they differ in words", () => {
    expect(new Set(ALIKE.map(([, line = ""]) => printOf(line, 0))).size).toBe(ALIKE.length);
    expect(new Set(DIFFERENT.map((line) => printOf(line, "different"))).size).toBe(DIFFERENT.length);
  });
});

describe("the mask", () => {
  const cases = MASKS.map(([line, kind, same = kind]) => [line, kind, same === AS_IS ? line : same] as const);

  test.each(cases)("of “%s” is “%s”, and the same error is “%s”", async (line, kind, same) => {
    const [masked] = await sql`
      select report.error_mask(${line}) as kind, rollup.masked_line(${line}, true) as same`;
    expect(masked).toEqual({ kind, same });
    expect(maskPlaces(line)).toBe(same);
  });
});
