/**
 * Reads every list of a mirror, and the detail of each list's first record, with the client that was generated from its
 * description. Prints how many records each list has, as JSON. It is compiled by `main.ts` beside what that generates.
 */
import { deepStrictEqual, ok } from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./description.js";

const [, , baseUrl = "", slug = "", word = ""] = process.argv;
const client = createClient<paths>({ baseUrl });

interface Page<R> {
  meta: components["schemas"]["PageMeta"];
  objects: R[];
}
interface Answer<T> {
  data?: T;
  error?: unknown;
}

async function readList<R extends { id: string }>(
  read: (offset: number) => Promise<Answer<Page<R>>>,
  find: (key: string) => Promise<Answer<R | Page<R>>>,
): Promise<number> {
  const ids = new Set<string>();
  for (;;) {
    const { data: page, error } = await read(ids.size);
    ok(page, JSON.stringify(error));
    const [first] = page.objects;
    if (ids.size === 0 && first) deepStrictEqual((await find(first.id)).data, first);
    for (const { id } of page.objects) {
      ok(typeof id === "string");
      ids.add(id);
    }
    if (page.meta.next !== null) continue;
    deepStrictEqual(ids.size, page.meta.total_count);
    return ids.size;
  }
}

const slice = (offset: number) => ({ params: { query: { limit: 1000, offset } } });
const at = (key: string) => ({ params: { path: { key } } });

const counts = {
  build: await readList(
    (offset) => client.GET("/api/v1/build/", slice(offset)),
    (key) => client.GET("/api/v1/build/{key}/", at(key)),
  ),
  file: await readList(
    (offset) => client.GET("/api/v1/file/", slice(offset)),
    (key) => client.GET("/api/v1/file/{key}/", at(key)),
  ),
  project: await readList(
    (offset) => client.GET("/api/v1/project/", slice(offset)),
    (key) => client.GET("/api/v1/project/{key}/", at(key)),
  ),
  user: await readList(
    (offset) => client.GET("/api/v1/user/", slice(offset)),
    (key) => client.GET("/api/v1/user/{key}/", at(key)),
  ),
  version: await readList(
    (offset) => client.GET("/api/v1/version/", slice(offset)),
    (key) => client.GET("/api/v1/version/{key}/", at(key)),
  ),
};

const builds = await client.GET("/api/v1/build/{key}/", at(slug));
ok(builds.data && "objects" in builds.data);
const filtered = await client.GET("/api/v1/build/", {
  params: { query: { project__slug: slug, success: true } },
});
ok(filtered.data?.objects.every(({ success }) => success === true));

const root = await client.GET("/api/v1/");
deepStrictEqual(root.data?.build.list_endpoint, "/api/v1/build/");
ok((await client.GET("/api/v1/build/schema/")).data);
const files = await client.GET("/api/v1/file/search/", { params: { query: { q: word } } });
ok(typeof files.data?.objects[0]?.text === "string");
const anchors = await client.GET("/api/v1/file/anchor/", { params: { query: { q: word } } });
ok(typeof anchors.data?.objects[0] === "string");
const docs = await client.GET("/api/v2/docsearch/", { params: { query: { q: word, project: slug } } });
ok(typeof docs.data?.results.hits.hits[0]?.fields.link === "string");

const refused = await client.GET("/api/v1/build/", { params: { query: { limit: -1 } } });
ok(refused.error?.error.includes("limit"));
deepStrictEqual((await client.GET("/api/v1/build/{key}/", at("999999999"))).response.status, 404);

process.stdout.write(`${JSON.stringify(counts)}\n`);
