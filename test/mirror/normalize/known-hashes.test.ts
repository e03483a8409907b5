import { describe, expect, it } from "vitest";
import { normalizePage } from "../../../src/mirror/normalize/page.ts";
import { PLANS } from "../../../src/mirror/normalize/record-plan.ts";
import type { Resource } from "../../../src/resources/resources.ts";
import { wireBuild, wireFile, wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const BASE = new URL("https://docs.example.org");
const USERS = ["/api/v1/user/9/", "/api/v1/user/10/"];

const PATH = "/api/v1/project/4/";
const withUsers = (users: unknown) => wireProject("4", { users });
const ODD_USER = wireUser("7", { id: 7, last_login: "soon", city: "Ys" });
const ODD_FILE = wireFile("6", null, { name: undefined });
const WHOLE_BUILD = wireBuild("8", { version: "/api/v1/version/5/", output: "ok\u0000" });
const ODD_BUILD = wireBuild("8", { success: "yes", commit: ["a", { b: null }] });

/** Mirrors hold these hashes. A record with another hash is written again, as it must be after its declaration changed. */
const KNOWN: [Resource, string, Record<string, unknown>, string][] = [
  ["user", "a whole user", wireUser("7"), "0660ce2a7412fdad6ffceba4ad50bf52"],
  ["user", "a user with odd fields", ODD_USER, "bee3dcc09b8822dcb75aa286979a1bad"],
  ["project", "a whole project", withUsers(USERS), "c12fcc072b1eb1c560d9570686e18734"],
  [
    "project",
    "its users in another order",
    withUsers(USERS.toReversed()),
    "c12fcc072b1eb1c560d9570686e18734",
  ],
  ["project", "users that are no list", withUsers("nobody"), "cb7db7b36387baafc6dcf2dcf358eda5"],
  [
    "version",
    "a version with its project",
    wireVersion("5", wireProject("4")),
    "fee0db7f2b416995a6b743f7d93106a6",
  ],
  ["version", "one with its project's path", wireVersion("5", PATH), "75a9f3bd546a906b506fc5d992228150"],
  ["file", "a file with its project", wireFile("6", wireProject("4")), "26f9440dd5b833ef2811d5af8b554aa1"],
  ["file", "a file without a project", ODD_FILE, "a97134511f6d9710468957e4310d0c1c"],
  ["build", "a whole build", WHOLE_BUILD, "690877b7256b1f6494f6737b5ed830e1"],
  ["build", "a build with odd fields", ODD_BUILD, "1b131aae3c3ac82727e4c009e876e9dd"],
];

describe("the hash of a record that mirrors hold", () => {
  it.each(KNOWN)("of a %s is as before: %s", (resource, _name, record, hash) => {
    const { records } = normalizePage(resource, [record], BASE);
    expect(records.map((one) => one.hash)).toEqual([hash]);
  });

  it("of an embedded project is that of the project itself", () => {
    const project = wireProject("4", { users: USERS });
    const { embeddedProjects } = normalizePage("version", [wireVersion("5", project)], BASE);
    const { records } = normalizePage("project", [project], BASE);
    expect(embeddedProjects.map(({ hash }) => hash)).toEqual(records.map(({ hash }) => hash));
  });
});

it("mirrors remember each page under the number 3", () => {
  const known = [...new Set(KNOWN.map(([resource]) => resource))];
  expect(known.map((resource) => [resource, PLANS[resource].pageReading])).toEqual(
    known.map((resource) => [resource, 3]),
  );
});
