/**
 * Copies the questions of this folder into the collection "docmirror" of a Metabase. It adds new questions
 * and replaces the SQL and the settings of those with the same name, so it is safe to repeat. Then it makes
 * Metabase read the tables, keys and comments of the database again, which only a key of the group
 * Administrators may ask for. It reads the environment: METABASE_URL, METABASE_API_KEY (of a group that may
 * write SQL), and METABASE_DATABASE, the name of the mirror in Metabase.
 */
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

const COLLECTION = "docmirror";
const TIMEOUT_MS = 60_000;
const TYPES = { since: "date", until: "date", at_least: "number" };

const {
  METABASE_URL: url,
  METABASE_API_KEY: key,
  METABASE_DATABASE: databaseName = "docmirror",
} = process.env;

/** Sends a request and returns the JSON reply. Throws for any failure, with the start of the reply. */
async function call(method, path, body) {
  const response = await fetch(new URL(`api/${path}`, url.endsWith("/") ? url : `${url}/`), {
    method,
    headers: { "x-api-key": key, "content-type": "application/json" },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const text = await response.text();
  if (!response.ok) {
    const message = `${method} /api/${path}: ${response.status} ${text.slice(0, 200)}`;
    throw Object.assign(new Error(message), { status: response.status });
  }
  return text === "" ? null : JSON.parse(text);
}

/** Reads the header lines of a question and its SQL. */
function readQuestion(file) {
  const text = readFileSync(new URL(`questions/${file}`, import.meta.url), "utf8");
  const [, title, answers, display, drawn = "", sql] =
    /^-- Title: (.+)\n-- Answers: (.+)\n-- Shown as: (\w+)(?: of (.+))?\n([\s\S]+)$/.exec(text) ?? [];
  if (sql === undefined) throw new Error(`${file} must begin with its title, its answer and its display`);
  const [metrics, dimension] = drawn.split(" by ");
  return { title, answers, display, metrics: metrics.split(", "), dimension, sql };
}

function cardOf({ title, answers, display, metrics, dimension, sql }, databaseId, collectionId) {
  const names = new Set([...sql.matchAll(/\{\{(\w+)\}\}/g)].map(([, name]) => name));
  const tags = [...names].map((name) => [
    name,
    { id: stableId(title, name), name, "display-name": name, type: TYPES[name] ?? "text", required: false },
  ]);
  const settings = dimension && { "graph.dimensions": [dimension], "graph.metrics": metrics };
  return {
    name: title,
    description: answers,
    display,
    visualization_settings: { ...settings, ...(display === "bar" && { "stackable.stack_type": "stacked" }) },
    dataset_query: {
      type: "native",
      database: databaseId,
      native: { query: sql, "template-tags": Object.fromEntries(tags) },
    },
    collection_id: collectionId,
  };
}

/** The same id each time, so that references to a variable stay valid. */
function stableId(...parts) {
  const hex = createHash("md5").update(parts.join("\n")).digest("hex");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

async function main() {
  if (!url || !key) throw new Error("METABASE_URL and METABASE_API_KEY are needed");
  const { data: databases } = await call("GET", "database");
  const database = databases.find(({ name }) => name === databaseName);
  if (!database) {
    const names = databases.map(({ name }) => name).join(", ");
    throw new Error(
      `Metabase has no database ${databaseName}; it has ${names || "none"}: set METABASE_DATABASE`,
    );
  }
  const collections = await call("GET", "collection");
  const collection =
    collections.find(({ name, archived }) => name === COLLECTION && !archived) ??
    (await call("POST", "collection", { name: COLLECTION }));
  const { data: cards } = await call("GET", `collection/${collection.id}/items?models=card`);
  for (const file of readdirSync(new URL("questions/", import.meta.url)).sort()) {
    const card = cardOf(readQuestion(file), database.id, collection.id);
    const known = cards.find(({ name }) => name === card.name);
    if (known) await call("PUT", `card/${known.id}`, card);
    else await call("POST", "card", card);
    process.stdout.write(`${known ? "replaced" : "added"}: ${card.name}\n`);
  }
  await readAgain(database);
}

/** The questions work without it, so a key that may not ask for it is no failure. */
async function readAgain({ id, name }) {
  try {
    await call("POST", `database/${id}/sync_schema`);
  } catch (error) {
    if (error.status !== 403) throw error;
    process.stdout.write(
      `The questions are in place. Metabase reads new tables and comments of ${name} at its next sync, because this key may not ask for one now: ` +
        "use a key of the group Administrators, or choose Sync database schema under Admin, Databases.\n",
    );
  }
}

main().catch((error) => {
  const why = error.cause instanceof Error ? ` (${error.cause.message})` : "";
  process.stderr.write(`${error.message}${why}\n`);
  process.exitCode = 1;
});
