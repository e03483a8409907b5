import { describe, expect, test } from "vitest";
import { type Loading, setUpLoading } from "../../support/loading.ts";
import { wireProject, wireUser, wireVersion } from "../../support/wire-records.ts";

const uris = (...ids: string[]) => ids.map((id) => `/api/v1/user/${id}/`);
const withUsers = (...ids: string[]) => wireProject("1", { users: uris(...ids) });

const stored = async ({ sql }: Loading) => {
  const rows = await sql<{ uri: string }[]>`
    select user_uri as uri from mirror.project_users where project_id = '1' order by position`;
  return rows.map(({ uri }) => uri);
};
const changes = ({ sql }: Loading) => sql`select before, after from mirror.changes`;

async function setUp(...ids: string[]): Promise<Loading> {
  const loading = await setUpLoading();
  await loading.load("user", [wireUser("1"), wireUser("2"), wireUser("3"), wireUser("4")]);
  await loading.load("project", [withUsers(...ids)]);
  return loading;
}

describe("the administrators of a project", () => {
  test("in another order are no change, listed or embedded", async () => {
    await using loading = await setUp("3", "1", "2");
    const counts = await loading.load("project", [withUsers("1", "2", "3")]);
    expect(counts).toMatchObject({ updated: 0, unchanged: 1 });
    const projects = [withUsers("2", "3", "1"), withUsers("1", "3", "2")];
    await loading.load(
      "version",
      projects.map((project, id) => wireVersion(String(id), project)),
    );
    expect(await changes(loading)).toEqual([]);
    expect(await stored(loading)).toEqual(uris("3", "1", "2"));
  });

  test("keep the order first seen when one comes and one goes; the new one is last", async () => {
    await using loading = await setUp("3", "1", "2");
    expect(await loading.load("project", [withUsers("4", "2", "3")])).toMatchObject({ updated: 1 });
    expect(await stored(loading)).toEqual(uris("3", "2", "4"));
    const expected = [{ before: { users: uris("3", "1", "2") }, after: { users: uris("3", "2", "4") } }];
    expect(await changes(loading)).toEqual(expected);
  });

  test("in another order beside another change are no part of that change", async () => {
    await using loading = await setUp("3", "1", "2");
    await loading.load("project", [{ ...withUsers("2", "1", "3"), name: "Renamed" }]);
    expect(await changes(loading)).toMatchObject([{ after: { name: "Renamed" } }]);
    expect(await loading.sql`select from mirror.changes where after ? 'users'`).toEqual([]);
    expect(await stored(loading)).toEqual(uris("3", "1", "2"));
  });

  test("that stand twice are two, and one of them less is a change", async () => {
    await using loading = await setUp("1", "1", "2");
    expect(await loading.load("project", [withUsers("2", "1", "1")])).toMatchObject({ updated: 0 });
    expect(await loading.load("project", [withUsers("1", "2")])).toMatchObject({ updated: 1 });
    expect(await stored(loading)).toEqual(uris("1", "2"));
  });
});
