import { expect, it } from "vitest";
import { loadConfig } from "../../../src/base/config.ts";
import { checkSettings } from "../../../src/cli/doctor/doctor-command.ts";
import { createFolder } from "../../support/folder.ts";

const REAL = { DOCMIRROR_BASE_URL: "https://docs.example.org" };
const CONTACT = { DOCMIRROR_CONTACT: "ops@example.org" };

it.each([
  ["asks for a contact", REAL, "warning", /^DOCMIRROR_CONTACT is not set/],
  ["is content with one", { ...REAL, ...CONTACT }, "ok", /^all can be used, 2 of/],
  ["asks for none before a service of this machine", { DOCMIRROR_BASE_URL: "http://localhost:1" }, "ok", /./],
  ["warns of no rate", { ...REAL, ...CONTACT, DOCMIRROR_RATE: "0" }, "warning", /^DOCMIRROR_RATE is 0/],
])("doctor %s", (_, env, status, finding) => {
  using folder = createFolder();
  const context = loadConfig({ env, cwd: folder.path });
  expect(checkSettings(context)).toMatchObject({ status, finding: expect.stringMatching(finding) });
});
