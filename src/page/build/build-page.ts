import { ConfigError } from "../../base/errors.ts";
import type { QuarantinedBuild } from "../../mirror/builds/explain-build.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import { findBuild } from "../parts/builds.ts";
import { type Draft, notice, type PageFunction } from "../parts/document.ts";
import { foreign, html, type Markup } from "../parts/html.ts";
import { same, series } from "./around.ts";
import type { BuildSaid, BuildScope } from "./build-scope.ts";
import { buildVerdict, changes, facts, quarantine } from "./build-verdict.ts";
import { log, why } from "./log.ts";
import { states } from "./states.ts";

const BUILD: BlockPage<BuildScope, BuildSaid> = {
  name: "build",
  narrowedBy: { id: null },
  layout: [
    {
      main: [why, states, series, log, changes, quarantine],
      rail: [same, facts],
      railLabel: "More about this build",
    },
  ],
  kept: ({ id }) => ({ id }),
};

/** The page of a build: how it ended and why, its neighbours, its states and its log. */
export const buildPage =
  (sourceTimezone: string): PageFunction =>
  ({ name: id }) => ({
    key: ["build", id],
    needs: [],
    files: filesOf(BUILD, async (tx, moment) => {
      const fact = await findBuild(tx, id);
      if (fact === undefined) throw new ConfigError(`the reports have no build ${id}`);
      return { ...moment, id, fact, sourceTimezone };
    }),
    draw: async (tx, moment) =>
      isStorableId(id)
        ? drawBuild(tx, { ...moment, id, fact: await findBuild(tx, id), sourceTimezone })
        : absent(id, NO_BUILD),
  });

const NO_BUILD = "The mirror has no build with this id.";

async function drawBuild(tx: TransactionSql, scope: BuildScope): Promise<Draft> {
  const { id } = scope;
  const { verdict, draw } = await drawBlocks(tx, BUILD, buildVerdict, scope);
  const { told } = verdict;
  if (told === null) return absent(id, absenceWords(verdict.quarantine));
  const main = html`
${told.neighbours}
${await draw(told)}`;
  return { verdict: told.verdict, main, tab: "/projects" };
}

const absent = (id: string, words: Markup | string): Draft => ({
  ...notice("No such build", words),
  status: 404,
  searched: id,
});

function absenceWords(quarantine: readonly QuarantinedBuild[]): Markup | string {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) return NO_BUILD;
  return html`${NO_BUILD} The service sent it, but it could not be stored:
    ${foreign(last.reason, 300)}. <code>docmirror quarantine --resource build</code> shows what was sent.`;
}
