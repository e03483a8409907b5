import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { type Client, createClient } from "../api/client.ts";
import { requireBaseUrl } from "../config.ts";
import { ConfigError, HttpStatusError, NotFoundError } from "../errors.ts";
import { jsonText } from "../normalize/json-text.ts";
import { printableJson } from "../printable.ts";
import { fetchRootListing } from "../sync/root-listing.ts";
import { RESOURCES, type Resource } from "../wire/resources.ts";
import { createCommand } from "./create-command.ts";
import { wholeOption } from "./number-option.ts";
import { parseResource } from "./parse-resource.ts";
import { runCommand } from "./run-command.ts";

interface Options {
  filter?: [field: string, value: string][];
  schema?: true;
  limit?: number;
  offset?: number;
}

/** Prints the service's own JSON, on a terminal too, because it shows what came over the wire. */
export function getCommand(summary: string): Command {
  const count = { min: 0, max: Number.MAX_SAFE_INTEGER };
  return createCommand({
    name: "get",
    summary,
    settings: ["baseUrl", "ratePerSecond", "timeoutMs", "retries", "maxBodyBytes"],
    examples: [
      ["get", "the root listing"],
      ["get build --filter project__slug=pip --limit 5", "the first page of a project's builds"],
      ["get project pip", "one record, by id or slug"],
      ["get build --schema", "the resource's schema"],
    ],
  })
    .addArgument(new Argument("[resource]", `one of ${RESOURCES.join(", ")}`).argParser(parseResource))
    .argument("[id-or-slug]", "one record instead of the list")
    .addOption(
      new Option("--filter <field=value>", "narrow the list; may be repeated")
        .argParser(addFilter)
        .conflicts("schema"),
    )
    .addOption(new Option("--schema", "the resource's schema").conflicts(["limit", "offset"]))
    .addOption(wholeOption("--limit <records>", "the page's size [default: the service's]", count))
    .addOption(wholeOption("--offset <records>", "where the page starts [default 0]", count))
    .option("--json", "changes nothing: the output is always JSON")
    .action(
      runCommand<Options>(async ({ config, log, clock, signal, out }, { options, args }) => {
        const resource = args[0] as Resource | undefined;
        const key = args[1];
        const path = requestPath(resource, key, options);
        const client = createClient({
          ...config,
          baseUrl: requireBaseUrl(config),
          concurrency: 1,
          clock,
          log,
          signal,
        });
        try {
          const reply = await client
            .fetchJson(path, { parse: (value) => value, signal })
            .catch((error: unknown) => throwNotFound(error, client, resource, key));
          await out.write(`${printableJson(toJson(reply.value))}\n`);
          return 0;
        } finally {
          await client.close();
        }
      }),
    );
}

/**
 * Indented JSON; one line where it is nested so deep that the indented text or the stack would be too long.
 */
function toJson(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return jsonText(value, Number.POSITIVE_INFINITY);
  }
}

/**
 * Turns a 404 for one record into a NotFoundError. A wrong base URL gives a 404 too, so the root listing is
 * read first. Any other error is thrown as it is.
 */
async function throwNotFound(
  error: unknown,
  client: Client,
  resource: Resource | undefined,
  key: string | undefined,
): Promise<never> {
  const isGone = error instanceof HttpStatusError && (error.status === 404 || error.status === 410);
  if (!isGone || resource === undefined || key === undefined) throw error;
  await fetchRootListing(client);
  throw new NotFoundError(`The service has no ${resource} ${key}`, {
    cause: error,
    hint: `\`docmirror get ${resource}\` lists what it has`,
  });
}

/** The path of a request. Details of projects and versions have no closing slash. */
function requestPath(resource: Resource | undefined, key: string | undefined, options: Options): string {
  const { filter = [], limit, offset, schema } = options;
  const listFlags = filter.length > 0 || limit !== undefined || offset !== undefined;
  if (listFlags && (resource === undefined || key !== undefined)) {
    throw new ConfigError("--filter, --limit and --offset are for lists", {
      hint: "name a resource and no record, as in: docmirror get build --limit 5",
    });
  }
  if (schema && (resource === undefined || key !== undefined)) {
    throw new ConfigError("--schema takes a resource and no record", {
      hint: "as in: docmirror get build --schema",
    });
  }
  const query = new URLSearchParams(filter);
  if (limit !== undefined) query.set("limit", String(limit));
  if (offset !== undefined) query.set("offset", String(offset));
  query.set("format", "json");
  return `/api/v1/${resourcePath(resource, key, schema)}?${query}`;
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
  return `${resource}/${encodeURIComponent(key)}${isBare ? "" : "/"}`;
}

function addFilter(text: string, before: Options["filter"]): Options["filter"] {
  const [, field, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (field === undefined || value === undefined)
    throw new InvalidArgumentError("It is not of the form field=value.");
  return [...(before ?? []), [field, value]];
}
