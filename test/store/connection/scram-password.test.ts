import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { withSql } from "../../../src/store/connection/connect.ts";
import { withPassword } from "../../../src/store/connection/database-url.ts";
import { scramPassword } from "../../../src/store/connection/scram-password.ts";
import { createTestDatabase } from "../../support/database.ts";

const APPLICATION = { applicationName: "docmirror test", max: 1 };

/** Passwords that Postgres stores in another spelling, and some near them that it takes as they are. */
const PASSWORDS = [
  ...["plain", "it's \\ 50%", " two  blanks ", "tab\tand é"],
  ...["é", "e\u0301", "ﬁx", "Ⅸ", "ｆｕｌｌ", "Å"],
  ...["a\u00A0b", "a\u2003b", "a\u200Bb", "a\u3000b"],
  ...["a\u00ADb", "a\u200Db", "❤\uFE0F", "\u00AD"],
  ...["e\u0301\u0007", "e\u0301\uE000", "e\u0301\u2028", "😀", "😀e\u0301"],
  ...["👩\u200D👧", "世界", "שלום", "سلام", "שa"],
];

test("any password opens a server that keeps it by SCRAM", async () => {
  await using database = await createTestDatabase({ migrated: false });
  const role = `docmirror_test_${randomBytes(6).toString("hex")}`;
  const refused: string[] = [];
  await withSql(database.url, APPLICATION, async (sql) => {
    await sql.unsafe(`create role ${role} login`);
    try {
      for (const password of PASSWORDS) {
        const [quoted] = await sql<{ text: string }[]>`select quote_literal(${password}) as text`;
        await sql.unsafe(`alter role ${role} password ${quoted?.text}`);
        const url = new URL(database.url);
        url.username = role;
        url.password = "";
        await withSql(
          withPassword(url.href, await scramPassword(password)),
          APPLICATION,
          (own) => own`select`,
        ).catch((error: unknown) => refused.push(`${JSON.stringify(password)}: ${error}`));
      }
    } finally {
      await sql.unsafe(`drop role ${role}`);
    }
  });
  expect(refused).toEqual([]);
});
