import { ConfigError } from "../../base/errors.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { askEach, type BlockPage, drawBlocks, filesOf } from "../parts/block.ts";
import type { Draft, PageFunction } from "../parts/document.ts";
import { foreign, html, type Markup, shorten } from "../parts/html.ts";
import { notice } from "../parts/notice.ts";
import { same, series } from "./around.ts";
import { askForBuild, type BuildScope } from "./build-scope.ts";
import { type BuildSaid, buildVerdict, changes, facts, quarantine } from "./build-verdict.ts";
import { log, why } from "./log.ts";
import { states } from "./states.ts";

const BUILD: BlockPage<BuildScope> = {
  name: "build",
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
  ({ name: id, now }) => ({
    key: ["build", id],
    needs: [],
    files: filesOf(BUILD, async (tx) => {
      const fact = await findFact(tx, id);
      if (fact === undefined) throw new ConfigError(`the reports have no build ${id}`);
      return { id, fact, sourceTimezone, now };
    }),
    draw: async (tx, moment) =>
      isStorableId(id)
        ? draw(tx, { id, fact: await findFact(tx, id), sourceTimezone, now: moment.now })
        : absent(id, "The mirror has no build with this id."),
  });

async function findFact(tx: TransactionSql, id: string) {
  const { fact } = await askEach(tx, { fact: isStorableId(id) ? askForBuild(id) : null });
  return fact[0];
}

async function draw(tx: TransactionSql, scope: BuildScope): Promise<Draft> {
  const { id, fact } = scope;
  const drawn = await drawBlocks(tx, BUILD, buildVerdict, scope);
  const { told } = drawn.verdict;
  if (told === null) return absent(id, absenceWords(drawn.verdict));
  const { tone, sign, bar } = told;
  const of = fact === undefined ? "" : ` of ${shorten(String(fact.project_slug), 40)}`;
  const main = html`${bar}
${drawn.facts(series)?.neighbours}
${drawn.draw()}`;
  const title = `${sign} Build ${shorten(id, 24)}${of}`;
  return { status: 200, facts: { title, tone, tab: "/projects", main } };
}

const absent = (id: string, words: Markup | string): Draft => ({
  status: 404,
  facts: { ...notice("No such build", words), searched: id },
});

function absenceWords({ quarantine }: BuildSaid): Markup | string {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) return "The mirror has no build with this id.";
  return html`The mirror has no build with this id. The service sent it, but it could not be stored:
    ${foreign(last.reason, 300)}. <code>docmirror quarantine --resource build</code> shows what was sent.`;
}
