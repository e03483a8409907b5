import { ConfigError } from "../../base/errors.ts";
import { anchorSearchPath, docSearchPath, fileSearchPath } from "../../client/endpoint-path.ts";
import { parseObjects } from "../../client/list-pages.ts";
import { parseFileHit } from "../../client/parse-record.ts";
import { parseDocHits } from "../../client/parse-replies.ts";
import type { FoundHits } from "../get/render-hits.ts";
import { describeAnchorHits, describeDocHits, describeFileHits } from "./describe-hits.ts";

export const SEARCHES = ["files", "anchors", "docs"] as const;
export type SearchName = (typeof SEARCHES)[number];

export interface SearchFlags {
  /** A project's slug. */
  project?: string;
  /** A version's slug. */
  inVersion?: string;
  page?: number;
  /** Ask the mirror instead of the service. */
  local?: true;
  json?: true;
}

/** One request to the service's own search, and how its reply reads. */
export interface PlannedSearch {
  path: string;
  /** Throws `UnexpectedShapeError` for a reply without hits. A field of a hit may hold anything. */
  read(value: unknown, url: string): FoundHits;
}

/** Plans a search by the service. Throws ConfigError for a flag that the service would ignore. */
export function planSearch(what: SearchName, q: string, flags: SearchFlags): PlannedSearch {
  const { project, inVersion: version, page = 1, json } = flags;
  switch (what) {
    case "files":
      refuse(flags, "inVersion", "--in-version is for docs: the service searches the files of all versions");
      if (project !== undefined && json) {
        throw new ConfigError("--json prints the reply as it came, which --project cannot narrow", {
          hint: "leave one of them out: the service searches the files of all projects",
        });
      }
      return {
        path: fileSearchPath(q, flags.page),
        read(value, url) {
          const hits = parseObjects(value, url, (hit) => parseFileHit(hit, { url, allowOddFields: true }));
          return describeFileHits(hits, page, project);
        },
      };
    case "anchors":
      refuse(flags, "page", "--page is for files: the service answers a search for anchors at once");
      refuse(flags, "project", "--project is not for anchors: the service gives addresses alone");
      refuse(flags, "inVersion", "--in-version is for docs: the service gives addresses alone");
      return {
        path: anchorSearchPath(q),
        read: (value, url) => describeAnchorHits(parseObjects(value, url, (address) => address)),
      };
    case "docs":
      refuse(flags, "page", "--page is for files: the doc search gives its best hits at once");
      if (project === undefined) {
        throw new ConfigError("the doc search wants a project", {
          hint: "as in: `docmirror search docs install --project pip`",
        });
      }
      return {
        path: docSearchPath({ project, version, q }),
        read: (value, url) => describeDocHits(parseDocHits(value, url)),
      };
  }
}

function refuse(flags: SearchFlags, flag: keyof SearchFlags, message: string): void {
  if (flags[flag] === undefined) return;
  throw new ConfigError(message, { hint: "`docmirror search --help` shows which flag is for which search" });
}
