import { ConfigError } from "../../base/errors.ts";
import { type BuildDescription, describeBuild } from "../../mirror/builds/describe-build.ts";
import {
  type BuildExplanation,
  type ExplainedBuild,
  explainBuild,
} from "../../mirror/builds/explain-build.ts";
import { isStorableId } from "../../resources/record-id.ts";
import type { TransactionSql } from "../../store/connection/sql.ts";
import { momentTag } from "../parts/age.ts";
import { askEach } from "../parts/ask-all.ts";
import { renderBlock } from "../parts/block.ts";
import type { Draft, PageFunction } from "../parts/drawing.ts";
import { html } from "../parts/html.ts";
import { icon } from "../parts/icon.ts";
import { buildHref } from "../parts/links.ts";
import { notice } from "../parts/notice.ts";
import { offerFiles } from "../parts/offers.ts";
import type { PageMoment } from "../parts/page-moment.ts";
import { projectLink } from "../parts/record-links.ts";
import type { Row } from "../parts/row.ts";
import { renderVerdict } from "../parts/verdict-bar.ts";
import { foreign, type Markup, shorten, slugWords, targetWords } from "../parts/words.ts";
import { type AroundFacts, renderNeighbours, renderSeriesAround } from "./build-around.ts";
import { renderBuildCause } from "./build-cause.ts";
import { askForBuild, BUILD_FILES, buildBlocks, buildQuestions } from "./build-questions.ts";
import { renderAlike, renderFacts } from "./build-rail.ts";
import { renderStates, tookWords } from "./build-states.ts";
import { type BuildVerdict, judgeBuild } from "./build-words.ts";
import { renderLog } from "./log-block.ts";
import { type ErrorPlace, findErrorPlace, type LogTail, readLogTails } from "./log-tail.ts";
import { newest, renderEntry } from "./piece-markup.ts";
import { findUpstreamLinks, type UpstreamLinks } from "./upstream-links.ts";

/** The page of a build: how it ended and why, its neighbours, its states and its log. */
export function buildPage(sourceTimezone: string): PageFunction {
  return ({ name }) => ({
    key: ["build", name],
    needs: [],
    draw: (tx, moment) => draw(tx, name, sourceTimezone, moment),
    files: {
      parameters: BUILD_FILES,
      async ask(tx) {
        const { fact } = isStorableId(name) ? await askEach(tx, { fact: askForBuild(name) }) : { fact: [] };
        if (fact[0] === undefined) throw new ConfigError(`the reports have no build ${name}`);
        return buildBlocks(name, fact[0]);
      },
    },
  });
}

/** Everything that a page of a build shows. */
interface BuildFacts {
  readonly id: string;
  readonly build: ExplainedBuild;
  readonly description: BuildDescription;
  /** Its row in the reports; missing until they have been computed. */
  readonly fact: Row | undefined;
  readonly place: ErrorPlace | null;
  readonly tails: readonly LogTail[];
  readonly upstream: UpstreamLinks;
  readonly now: Date;
}

async function draw(
  tx: TransactionSql,
  id: string,
  sourceTimezone: string,
  { now }: PageMoment,
): Promise<Draft> {
  const absent = (words: Markup | string): Draft => ({
    status: 404,
    facts: { ...notice("No such build", words), searched: id },
  });
  if (!isStorableId(id)) return absent("The mirror has no build with this id.");
  const question = askForBuild(id);
  const [explanation, { fact: rows }] = await Promise.all([
    explainBuild(tx, id, sourceTimezone),
    askEach(tx, { fact: question }),
  ]);
  const { build, quarantine } = explanation;
  if (build === null) return absent(absenceWords(explanation));
  const [fact] = rows;
  const isFailed = build.state === "finished" && build.success === false;
  const [tails, place, upstream, around] = await Promise.all([
    readLogTails(tx, id),
    isFailed ? findErrorPlace(tx, id) : null,
    findUpstreamLinks(tx, id),
    fact === undefined ? null : findAround(tx, fact, now),
  ]);
  const description = describeBuild(build, quarantine);
  const facts: BuildFacts = { id, build, description, fact, place, tails, upstream, now };
  const line = build.archived_log?.error_line ?? errorLineOf(place, tails);
  const verdict = judgeBuild(build, fact, line, now);
  const of = fact === undefined ? "" : ` of ${shorten(String(fact.project_slug), 40)}`;
  return {
    status: 200,
    facts: {
      title: `${verdict.sign} Build ${shorten(id, 24)}${of}`,
      tone: verdict.tone,
      tab: "/projects",
      main: renderMain(facts, verdict, around),
    },
  };
}

/**
 * What the error line says, as the log has it, without colours: the message, where a line announces one. As the
 * reports have it where the page lacks that line.
 */
function errorLineOf(place: ErrorPlace | null, tails: readonly LogTail[]): string | null {
  if (place === null) return null;
  const tail = tails.find(({ part }) => part === place.part);
  const line = tail?.lines.find(({ number }) => number === place.lines.at(-1));
  return line?.text.trim() || place.excerpt;
}

interface Around {
  readonly facts: AroundFacts;
  readonly alike: readonly Row[];
  /** Other projects with an error of the same kind. */
  readonly ofKind: number;
}

/** The neighbours of a build, and the projects with the same error. Builds of no known series have no neighbours. */
async function findAround(tx: TransactionSql, fact: Row, now: Date): Promise<Around> {
  const questions = buildQuestions(fact);
  const hasSeries = fact.reference !== "(none)";
  const hasError = fact.failed === 1 && fact.error_fingerprint !== null;
  const [{ around, good }, { alike, kind }] = await Promise.all([
    hasSeries
      ? askEach(tx, { around: questions.around, good: questions.good })
      : { around: [fact], good: [] },
    hasError ? askEach(tx, { alike: questions.alike, kind: questions.kind }) : { alike: [], kind: [] },
  ]);
  return {
    facts: { fact, around, good: good[0], now },
    alike,
    ofKind: Number(kind[0]?.projects ?? 0),
  };
}

function renderMain(facts: BuildFacts, verdict: BuildVerdict, around: Around | null): Markup {
  const { id, build, description, fact, now } = facts;
  const logHref = `${buildHref(id)}/log.txt`;
  const isFailed = verdict.mark.kind === "bad";
  const offers = offerFiles("build", { id }, buildBlocks(id, fact), BUILD_FILES);
  const hasSeries = around !== null && around.facts.fact.reference !== "(none)";
  return html`${renderBuildVerdict(facts, verdict)}
${hasSeries ? renderNeighbours(around.facts) : ""}
<div class="cols">
<div class="col">
${isFailed ? renderBuildCause(facts, logHref, offers.why) : ""}
${renderStates(build, description.states, offers.states, now)}
${hasSeries ? renderSeriesAround(around.facts, offers.series) : ""}
${renderLog(facts, logHref)}
${renderList("changes", "What changed in its record", description.changes)}
${renderList("quarantine", "Replies that could not be stored", description.quarantine)}
</div>
<aside class="col rail" aria-label="More about this build">
${isFailed && around !== null && fact !== undefined && fact.error_fingerprint !== null ? renderAlike(around, offers.same, fact, now) : ""}
${renderFacts(id, description, fact, offers.facts, now)}
</aside>
</div>`;
}

function renderBuildVerdict(
  { id, build, fact, tails, upstream, now }: BuildFacts,
  verdict: BuildVerdict,
): Markup {
  const slug = fact === undefined ? "(unknown)" : String(fact.project_slug);
  const project = slug === "(unknown)" ? slugWords(slug) : projectLink(slug);
  const took = build.duration === null ? "" : `, took ${tookWords(build.duration)}`;
  const at = (moment: unknown) =>
    moment === null ? ", of no known date" : html`, triggered ${momentTag(moment, now)}`;
  const of =
    fact === undefined
      ? ""
      : html` ${targetWords(fact.version_slug, fact.type)} of ${project}${at(fact.triggered_at)}${took}.`;
  const isThere = build.deleted_at === null && verdict.mark.word !== "vanished";
  const out = (href: string, words: string) =>
    html`<a href="${href}" rel="noreferrer">${words} ${icon("out")}</a>`;
  return renderVerdict({
    look: verdict.look,
    mark: verdict.mark,
    crumbs: html`<a href="/projects">Projects</a> / ${project} / build ${foreign(id, 24)}`,
    sentence: verdict.sentence,
    evidence: html`${verdict.evidence.join(" ")}${of}`,
    acts: html`${verdict.mark.kind === "bad" ? html`<a href="#why">Why</a>` : ""}
      ${tails.length === 0 ? "" : html`<a href="#log">The whole log</a>`}
      ${upstream.docs === null ? "" : out(upstream.docs, "Its documentation")}
      ${upstream.record !== null && isThere ? out(upstream.record, "Its record, as JSON") : ""}`,
  });
}

function renderList(id: string, title: string, entries: BuildDescription["changes"]): Markup | string {
  if (entries.length === 0) return "";
  return renderBlock({
    id,
    title,
    count: String(entries.length),
    body: newest(
      entries,
      (shown) => html`<dl class="facts">
${shown.map(renderEntry)}</dl>`,
    ),
  });
}

/** Why a build has no page. It may be in quarantine. */
function absenceWords({ quarantine }: BuildExplanation): Markup | string {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) return "The mirror has no build with this id.";
  return html`The mirror has no build with this id. The service sent it, but it could not be stored:
    ${foreign(last.reason, 300)}. <code>docmirror quarantine --resource build</code> shows what was sent.`;
}
