import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { ConfigError } from "../../base/errors.ts";
import { keySegment } from "../../client/endpoint-path.ts";
import { parsePage } from "../../client/list-pages.ts";
import { unexpectedShape } from "../../client/parse-record.ts";
import { parseRoot, parseSchema } from "../../client/parse-replies.ts";
import { isJsonObject } from "../../resources/parse-json.ts";
import { DECLARATIONS, RESOURCES, type Resource } from "../../resources/resources.ts";
import { runCommand } from "../context/run-command.ts";
import { throwNotFound, UPSTREAM_SETTINGS, withUpstream } from "../context/with-upstream.ts";
import type { Output } from "../output/output.ts";
import { createCommand } from "../usage/create-command.ts";
import { parseResource, wholeFrom } from "../usage/flag-values.ts";
import { printReply, renderList, renderRecord, renderRoot, renderSchema } from "./render-reply.ts";

interface Options {
  filter?: [field: string, value: string][];
  schema?: true;
  limit?: number;
  offset?: number;
  json?: true;
}

/** Asks the service for one reply and prints it: as a table, or with `--json` as it came over the wire. */
export function getCommand(summary: string): Command {
  const count = wholeFrom(0, Number.MAX_SAFE_INTEGER);
  return createCommand({
    name: "get",
    summary,
    settings: UPSTREAM_SETTINGS,
    examples: [
      ["get", "the root listing"],
      ["get build --filter project__slug=pip --limit 5", "the first page of a project's builds"],
      ["get project pip", "one record, by id or slug"],
      ["get version pip", "the versions of a project"],
      ["get build --schema", "the resource's schema"],
      ["get project pip --json", "the reply as it came"],
    ],
  })
    .addArgument(new Argument("[resource]", `one of ${RESOURCES.join(", ")}`).argParser(parseResource))
    .argument("[id-or-slug]", "one record instead of the list; a project's slug lists its versions or builds")
    .addOption(
      new Option("--filter <field=value>", "narrow the list; may be repeated")
        .argParser(addFilter)
        .conflicts("schema"),
    )
    .addOption(new Option("--schema", "the resource's schema").conflicts(["limit", "offset"]))
    .option("--limit <records>", "the page's size [default: the service's]", count)
    .option("--offset <records>", "where the page starts [default 0]", count)
    .option("--json", "print the service's reply as it came")
    .action(
      runCommand<Options>(async (context, { options, args }) => {
        const resource = args[0] as Resource | undefined;
        const key = args[1];
        const path = requestPath(resource, key, options);
        return withUpstream(context, async (client) => {
          const { out } = context;
          const read = (value: unknown, url: string): unknown =>
            options.json ? value : readReply(value, url, resource, key, options);
          const { value } = await client.fetchJson(path, { parse: read }).catch((error: unknown) => {
            if (resource === undefined || key === undefined) throw error;
            return throwNotFound(error, client, {
              message: `The service has no ${resource} ${key}`,
              hint: `\`docmirror get ${resource}\` lists what it has`,
            });
          });
          if (options.json) await printReply(out, value);
          else await out.write((value as Render)(out));
          return 0;
        });
      }),
    );
}

/** Prints a reply that was read as a table. */
type Render = (out: Output) => string;

const AS_IT_CAME = "--json prints the reply as it came";

/** Finds out what a reply is. Records may hold anything, because a table can show it. */
function readReply(
  value: unknown,
  url: string,
  resource: Resource | undefined,
  key: string | undefined,
  { schema }: Options,
): Render {
  if (resource === undefined) {
    const root = parseRoot(value, url);
    return (out) => renderRoot(root, out);
  }
  if (schema) {
    const found = parseSchema(value, url);
    if (found.fields === undefined) throw unexpectedShape(url, "the schema has no fields", AS_IT_CAME);
    return (out) => renderSchema(found, out);
  }
  // A version or build that was asked for by the slug of a project is a list.
  if (key === undefined || (isJsonObject(value) && "objects" in value)) {
    const page = parsePage(value, url, (object) => object);
    return (out) => renderList(resource, page, out);
  }
  if (!isJsonObject(value)) throw unexpectedShape(url, `it is no ${resource}`, AS_IT_CAME);
  return (out) => renderRecord(resource, value, out);
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

/** Whether the service answers with a list. A project's slug lists its versions or builds. */
function isList(resource: Resource | undefined, key: string | undefined): boolean {
  if (resource === undefined) return false;
  return key === undefined || (DECLARATIONS[resource].listedBy !== undefined && !/^\d+$/.test(key));
}

function resourcePath(
  resource: Resource | undefined,
  key: string | undefined,
  schema: true | undefined,
): string {
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
