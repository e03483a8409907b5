import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { runCli } from "../support/cli.ts";
import { createTestDatabase } from "../support/database.ts";
import { installRelease } from "../support/next-release.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

describe("a checkout with the line ends of Windows", () => {
  test("is not made by git", () => {
    expect(readFileSync(`${ROOT}.gitattributes`, "utf8")).toMatch(/^\* text=auto eol=lf$/m);
  });

  test("knows the mirror of one without them, and the other way round", { tags: ["long"] }, async () => {
    using windows = installRelease();
    const folder = fileURLToPath(windows.folder);
    const texts = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) =>
      /^(?:src|migrations)\/.*\.(?:sql|json|ts|css)$/.test(path),
    );
    expect(texts.length).toBeGreaterThan(400);
    for (const path of texts) {
      const text = readFileSync(`${folder}${path}`, "utf8");
      writeFileSync(`${folder}${path}`, text.replaceAll("\n", "\r\n"));
    }
    await using ours = await createTestDatabase();
    await using theirs = await createTestDatabase({ migrated: false });
    const status = ["migrate", "--status", "--json"];
    const run = (database: { url: string }, args: string[], script?: URL) =>
      runCli(args, { env: { DATABASE_URL: database.url }, ...(script && { script }) });
    expect(await run(theirs, ["migrate"], windows.script)).toMatchObject({ code: 0 });
    for (const { code, stdout, stderr } of [
      await run(ours, status, windows.script),
      await run(theirs, status),
    ]) {
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(JSON.parse(stdout)).toMatchObject({ state: "current" });
    }
  });
});
