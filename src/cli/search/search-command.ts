import { Argument, type Command } from "commander";
import { nearestNames } from "../../base/config/nearest-names.ts";
import { ConfigError } from "../../base/errors.ts";
import { runCommand } from "../context/run-command.ts";
import { withMirror } from "../context/with-mirror.ts";
import { throwNotFound, UPSTREAM_SETTINGS, withUpstream } from "../context/with-upstream.ts";
import { type FoundHits, renderHits } from "../get/render-hits.ts";
import { printReply } from "../get/render-reply.ts";
import { createCommand } from "../usage/create-command.ts";
import { wholeFrom } from "../usage/flag-values.ts";
import { askLocal } from "./ask-local.ts";
import { planSearch, SEARCHES, type SearchFlags, type SearchName } from "./plan-search.ts";

/** Asks the service's own searches, or the mirror's index, and prints the hits. */
export function searchCommand(summary: string): Command {
  return createCommand({
    name: "search",
    summary,
    settings: [...UPSTREAM_SETTINGS, "databaseUrl", "dataDir"],
    examples: [
      ["search files install", "files of all projects, with the words in their text"],
      ["search anchors install", "addresses of anchors"],
      ["search docs 'build error' --project pip", "pages of one project, its version latest"],
      ["search files install --local", "the same from the mirror's own index"],
      ["search files install --json", "the reply as it came"],
    ],
  })
    .addArgument(new Argument("<what>", `one of ${SEARCHES.join(", ")}`).argParser(parseSearch))
    .argument("<query...>", "the words to search for")
    .option(
      "--project <slug>",
      "docs: the project to search, required; files: shows only its hits of the page",
    )
    .option("--in-version <slug>", "docs: the version to search [default latest]")
    .option("--page <number>", "files: the page of hits [default 1]", wholeFrom(1, 1_000_000))
    .option("--local", "ask the mirror's own index, which `docmirror sync --content` fills")
    .option("--json", "print the reply: the service's as it came, or the mirror's")
    .action(
      runCommand<SearchFlags>(async (context, { options, args }) => {
        const [what, ...words] = args;
        const q = words.join(" ").trim();
        if (q === "") throw new ConfigError("the query is empty", { hint: "give the words to search for" });
        if (options.local) {
          return withMirror(context, "search", async (sql) => {
            const { found, reply } = await askLocal(sql, what as SearchName, q, options);
            if (options.json) await context.out.json(reply);
            else await context.out.write(renderHits(found, context.out));
            return 0;
          });
        }
        const { path, read } = planSearch(what as SearchName, q, options);
        return withUpstream(context, async (client) => {
          const parse = (value: unknown, url: string): unknown => (options.json ? value : read(value, url));
          const message =
            what === "docs"
              ? `The service has no project ${options.project}, or no doc search`
              : "The service has no such search, or no such page of it";
          const hint = "`docmirror get` shows what it has";
          const asked = client.fetchJson(path, { parse });
          const { value } = await asked.catch((error) => throwNotFound(error, client, { message, hint }));
          if (options.json) await printReply(context.out, value);
          else await context.out.write(renderHits(value as FoundHits, context.out));
          return 0;
        });
      }),
    );
}

function parseSearch(text: string): SearchName {
  const search = SEARCHES.find((name) => name === text);
  if (search !== undefined) return search;
  const [near] = nearestNames(text, SEARCHES, 1);
  throw new ConfigError(`Unknown search '${text}'${near === undefined ? "" : `; did you mean ${near}?`}`, {
    hint: `there are ${SEARCHES.join(", ")}`,
  });
}
