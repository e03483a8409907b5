import { mkdirSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { question } from "../../../src/page/parts/answers.ts";
import { createFolder } from "../../support/folder.ts";

const FILE = `select to_char(a, 'HH24:MI')
  , count(*) over () as rows -- on the page
from :from
where at > :now::timestamptz:more
limit :most -- on the page
`;

it("a question has values and pieces of SQL in its places, and the page alone has the lines that it adds", () => {
  using folder = createFolder();
  mkdirSync(folder.at("sql"));
  writeFileSync(folder.at("sql", "some.sql"), FILE);
  const ask = question("some", pathToFileURL(folder.at("code.js")).href);
  const { text, params, whole, readable } = ask({
    from: sql`report.runs`,
    now: "2026-11-22",
    more: false,
    most: 5,
  });
  expect(text).toBe(
    "select to_char(a, 'HH24:MI')\n  , count(*) over () as rows\nfrom report.runs\nwhere at > $1::timestamptz\nlimit $2",
  );
  expect(params).toEqual(["2026-11-22", 5]);
  expect(whole.params).toEqual(["2026-11-22"]);
  expect(readable).toBe(
    "select to_char(a, 'HH24:MI')\nfrom report.runs\nwhere at > '2026-11-22'::timestamptz;\n",
  );
  expect(() => ask({ from: sql`report.runs`, now: "2026-11-22", mroe: sql` and true`, most: 5 })).toThrow(
    "nothing stands for :more",
  );
});
