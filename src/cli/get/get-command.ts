import { Argument, InvalidArgumentError, Option } from "commander";
import { requireBaseUrl } from "../../base/config.ts";
import { ConfigError, NotFoundError } from "../../base/errors.ts";
import { keySegment } from "../../client/endpoint-path.ts";
import { parsePage } from "../../client/list-pages.ts";
import { unexpectedShape } from "../../client/parse-record.ts";
import { parseRoot, parseSchema } from "../../client/parse-replies.ts";
import { type Client, createClient } from "../../mirror/api/client.ts";
import { isGone } from "../../mirror/api/fates.ts";
import { fetchRootListing } from "../../mirror/lists/root-listing.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { DECLARATIONS, RESOURCES, type Resource } from "../../resources/resources.ts";
import type { Sql } from "../../store/connection/sql.ts";
import type { CommandContext } from "../context/run-command.ts";
import { withMirror } from "../context/with-mirror.ts";
import type { Look } from "../output/output.ts";
import type { CommandDeclaration } from "../usage/create-command.ts";
import { parseResource, wholeFrom } from "../usage/flag-values.ts";
import { renderHits } from "./render-hits.ts";
import { renderJson, renderList, renderRecord, renderRoot, renderSchema } from "./render-reply.ts";
import { askLocal, planSearch, readSearch, type SearchFlags } from "./search.ts";

interface Options extends SearchFlags {
  filter?: [field: string, value: string][];
  schema?: true;
  limit?: number;
  offset?: number;
}

/** One request, how its reply is shown, and what its absence means. */
interface Asked {
  path: string;
  /**
   * The text for people. Throws `UnexpectedShapeError` for a reply that is something else. Records may hold anything, because
   * a table can show it.
   */
  render(value: unknown, url: string, look: Look): string;
  /** @default a reply that is missing is an error like any other */
  missing?: { message: string; hint: string };
}

const COUNT = wholeFrom(0, Number.MAX_SAFE_INTEGER);
const SEARCH = "what the service's search finds: in files, or in one project's pages";

/** Asks the service for one reply and prints it: as a table, or with `--json` as it came over the wire. */
export const command: CommandDeclaration<Options> = {
  settings: ["requests", "database"],
  exits: ["notFound"],
  examples: [
    ["get", "the root listing"],
    ["get build --filter project__slug=pip --limit 5", "the first page of a project's builds"],
    ["get project pip", "one record, by id or slug"],
    ["get version pip", "the versions of a project"],
    ["get build --schema", "the resource's schema"],
    ["get project pip --json", "the reply as it came"],
    ["get file --search install", "files of all projects, with the word in their text"],
    ["get file --search install --anchors", "addresses of anchors"],
    ["get project pip --search 'build error'", "pages of one project, its version latest"],
    ["get file --search install --local", "the same from the mirror's own index"],
  ],
  words: { resource: RESOURCES },
  flags: (command) =>
    command
      .addArgument(new Argument("[resource]", `one of ${RESOURCES.join(", ")}`).argParser(parseResource))
      .argument(
        "[id-or-slug]",
        "one record instead of the list; a project's slug lists its versions or builds",
      )
      .addOption(
        new Option("--filter <field=value>", "narrow the list; may be repeated")
          .argParser(addFilter)
          .conflicts("schema"),
      )
      .addOption(new Option("--schema", "the resource's schema").conflicts(["limit", "offset"]))
      .option("--limit <records>", "the page's size [default: the service's]", COUNT)
      .option("--offset <records>", "where the page starts [default 0]", COUNT)
      .addOption(new Option("--search <words>", SEARCH).conflicts(["filter", "schema", "limit", "offset"]))
      .option("--anchors", "with --search: addresses of anchors in place of files")
      .option("--project <slug>", "with --search of files: shows only its hits of the page")
      .option("--in-version <slug>", "with --search in a project: the version to search [default latest]")
      .option(
        "--page <number>",
        "with --search of files: the page of hits [default 1]",
        wholeFrom(1, 1_000_000),
      )
      .option("--local", "search the mirror's own index, which `docmirror sync --content` fills")
      .option("--json", "print the reply: the service's as it came, or the mirror's"),
  async run(context, { options, args }) {
    const [resource, key] = args as [Resource | undefined, string | undefined];
    const search = readSearch(resource, key, options);
    const { out } = context;
    if (search !== null && options.local) {
      const find = async (sql: Sql) => {
        const { found, reply } = await askLocal(sql, search, options);
        await context.print(reply, () => renderHits(found, out));
        return 0;
      };
      return withMirror(context, find, "reads");
    }
    const { path, render, missing } =
      search === null ? planGet(resource, key, options) : planSearch(search, options);
    return withUpstream(context, async (client) => {
      const parse = (value: unknown, url: string) =>
        options.json ? renderJson(value) : render(value, url, out);
      const reply = await client.fetchJson(path, { parse }).catch(async (error: unknown) => {
        if (missing === undefined || !isGone(error)) throw error;
        // A wrong base URL gives a 404 too.
        await fetchRootListing(client);
        throw new NotFoundError(missing.message, { cause: error, hint: missing.hint });
      });
      await out.write(reply.value);
      return 0;
    });
  },
};

/** Runs `use` with a client of the service, and closes it. */
async function withUpstream<T>(
  { config, clock, log, signal }: CommandContext,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  const baseUrl = requireBaseUrl(config);
  const client = createClient({ ...config, baseUrl, concurrency: 1, clock, log, signal });
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

const AS_IT_CAME = "--json prints the reply as it came";

function planGet(resource: Resource | undefined, key: string | undefined, options: Options): Asked {
  const path = requestPath(resource, key, options);
  if (resource === undefined)
    return { path, render: (value, url, look) => renderRoot(parseRoot(value, url), look) };
  const missing = {
    message: `The service has no ${resource} ${key}`,
    hint: `\`docmirror get ${resource}\` lists what it has`,
  };
  return {
    path,
    ...(key !== undefined && { missing }),
    render(value, url, look) {
      if (options.schema) {
        const found = parseSchema(value, url);
        if (found.fields === undefined) throw unexpectedShape(url, "the schema has no fields", AS_IT_CAME);
        return renderSchema(found, look);
      }
      // A version or build that was asked for by the slug of a project is a list.
      if (key === undefined || (isJsonObject(value) && "objects" in value)) {
        const page = parsePage(value, url, (object) => object);
        return renderList(resource, page, look);
      }
      if (!isJsonObject(value)) throw unexpectedShape(url, `it is no ${resource}`, AS_IT_CAME);
      return renderRecord(resource, value, look);
    },
  };
}

/** The path of a request. Details of projects and versions have no closing slash. */
function requestPath(resource: Resource | undefined, key: string | undefined, options: Options): string {
  const { filter = [], limit, offset, schema } = options;
  const listFlags = filter.length > 0 || limit !== undefined || offset !== undefined;
  if (listFlags && !isList(resource, key)) {
    throw new ConfigError("--filter, --limit and --offset are for lists", {
      hint: "name a resource and no record, as in: `docmirror get build --limit 5`",
    });
  }
  if (schema && (resource === undefined || key !== undefined)) {
    throw new ConfigError("--schema takes a resource and no record", {
      hint: "as in: `docmirror get build --schema`",
    });
  }
  const query = new URLSearchParams(filter);
  if (limit !== undefined) query.set("limit", String(limit));
  if (offset !== undefined) query.set("offset", String(offset));
  query.set("format", "json");
  return `/api/v1/${resourcePath(resource, key, schema)}?${query}`;
}

/** True where the service answers with a list. A project's slug lists its versions or builds. */
function isList(resource: Resource | undefined, key: string | undefined): boolean {
  if (resource === undefined) return false;
  return key === undefined || (DECLARATIONS[resource].listedBy !== undefined && !/^\d+$/.test(key));
}

function resourcePath(resource: Resource | undefined, key: string | undefined, schema: true | undefined) {
  if (resource === undefined) return "";
  if (schema) return `${resource}/schema/`;
  if (key === undefined) return `${resource}/`;
  const isBare = resource === "project" || resource === "version";
  return `${resource}/${keySegment(resource, key)}${isBare ? "" : "/"}`;
}

function addFilter(text: string, before: Options["filter"]): Options["filter"] {
  const [, field, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (field === undefined || value === undefined)
    throw new InvalidArgumentError("It is not of the form field=value.");
  return [...(before ?? []), [field, value]];
}
