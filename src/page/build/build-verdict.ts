import { describeBuild } from "../../mirror/builds/describe-build.ts";
import { type ExplainedBuild, explainBuild } from "../../mirror/builds/explain-build.ts";
import type { AnySql, TransactionSql } from "../../store/connection/sql.ts";
import { agoWords, momentTag } from "../parts/age.ts";
import { part, type Row } from "../parts/block.ts";
import { foreign, html, type Markup, shorten, slugWords, targetWords } from "../parts/html.ts";
import { kindLabel, kindMeaning } from "../parts/kinds.ts";
import { projectLink, webAddress } from "../parts/links.ts";
import { icon, outcomeMark } from "../parts/marks.ts";
import { renderVerdict } from "../parts/verdict.ts";
import type { BuildSaid, BuildScope, BuildStory, BuildVerdict, UpstreamLinks } from "./build-scope.ts";
import { type ErrorPlace, findErrorPlace, type LogTail, readLogTails } from "./log-tail.ts";
import { tookWords } from "./states.ts";

/** The newest states, changes and refused replies that a page shows. The command line has all. */
const MOST_SHOWN = 50;

/** How a build ended and why. */
export const buildVerdict = part({
  asks: (_: BuildScope) => ({}),
  next: readStory,
  draw({ story, quarantine }, scope): BuildSaid {
    if (story === null) return { told: null, quarantine };
    const { build, place, tails } = story;
    const line = build.archived_log?.error_line ?? errorLineOf(place, tails);
    const verdict = judgeBuild(build, scope.fact, line, scope.now);
    const bar = renderBuildVerdict(scope, story, verdict);
    return { told: { ...story, verdict, bar, isFailed: verdict.mark.kind === "bad" }, quarantine };
  },
});

async function readStory(tx: TransactionSql, _found: object, { id, sourceTimezone }: BuildScope) {
  const { build, quarantine } = await explainBuild(tx, id, sourceTimezone);
  if (build === null) return { story: null, quarantine };
  const isFailed = build.state === "finished" && build.success === false;
  const [tails, place, upstream] = await Promise.all([
    readLogTails(tx, id),
    isFailed ? findErrorPlace(tx, id) : null,
    findUpstreamLinks(tx, id),
  ]);
  const story: BuildStory = {
    build,
    description: describeBuild(build, quarantine, MOST_SHOWN),
    tails,
    place,
    upstream,
  };
  return { story, quarantine };
}

async function findUpstreamLinks(sql: AnySql, buildId: string): Promise<UpstreamLinks> {
  const [row] = await sql<
    { base_url: string | null; subdomain: string | null; absolute_url: string | null }[]
  >`
    select (select base_url from sync.service), project.subdomain, project.absolute_url
    from mirror.builds as build
    left join mirror.projects as project on project.id = build.project_id
    where build.id = ${buildId}`;
  const { base_url: baseUrl = null, subdomain = null, absolute_url: path = null } = row ?? {};
  return {
    record: baseUrl === null ? null : webAddress(`${baseUrl}/api/v1/build/${encodeURIComponent(buildId)}/`),
    docs: webAddress(subdomain) ?? (baseUrl === null ? null : webAddress(path, `${baseUrl}/`)),
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

function renderBuildVerdict(
  { id, fact, now }: BuildScope,
  { build, tails, upstream }: BuildStory,
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

const LINE_LENGTH = 180;
const STATE_LENGTH = 40;

function judgeBuild(
  build: ExplainedBuild,
  fact: Row | undefined,
  errorLine: string | null,
  now: Date,
): BuildVerdict {
  const outcome = fact === undefined ? outcomeOf(build) : String(fact.outcome);
  const ago = agoWords(fact === undefined ? build.date_read?.earliest : fact.triggered_at, now);
  const verdict = judgeOutcome(outcome, build, ago === null ? "" : ` ${ago} ago`, errorLine, now);
  const evidence = [...verdict.evidence];
  if (outcome === "failed" && fact !== undefined) {
    const meaning = kindMeaning(fact.error_class);
    evidence.unshift(`${kindLabel(fact.error_class)}${meaning === null ? "" : `: ${meaning}`}.`);
  }
  if (build.deleted_at !== null) {
    const since = agoWords(build.deleted_at, now);
    evidence.push(`The service no longer has it${since === null ? "" : `, as was found ${since} ago`}.`);
  }
  if (fact === undefined) evidence.push("It is not counted yet: the reports are computed when a run ends.");
  if (fact?.is_dated_ahead === true)
    evidence.push("Its date is beyond tomorrow, so it counts as a build without a date.");
  return { ...verdict, evidence };
}

function judgeOutcome(
  outcome: string,
  { state, open, success }: ExplainedBuild,
  ago: string,
  errorLine: string | null,
  now: Date,
): BuildVerdict {
  const mark = outcomeMark(outcome);
  const inState = state === null ? "without a state" : `“${shorten(state, STATE_LENGTH)}”`;
  const seenAgo = agoWords(open?.last_seen.asked_at, now);
  const seen = `still ${inState} when last seen${seenAgo === null ? "" : `, ${seenAgo} ago`}`;
  switch (outcome) {
    case "failed":
      return {
        look: "some",
        mark,
        tone: "bad",
        sign: "✗",
        sentence: `Failed${ago}${errorLine === null ? "; its log does not say why" : `: ${shorten(errorLine, LINE_LENGTH)}`}`,
        evidence: [],
      };
    case "succeeded":
      return { look: "good", mark, tone: "good", sign: "✓", sentence: `Succeeded${ago}.`, evidence: [] };
    case "open":
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "…",
        sentence: `In progress, triggered${ago}: ${seen}.`,
        evidence: ["Whether it succeeds is not known yet."],
      };
    case "stuck":
      return {
        look: "warn",
        mark,
        tone: "warn",
        sign: "!",
        sentence: `Stuck, triggered${ago}: ${seen}.`,
        evidence: [
          "It counts neither as a success nor as a failure. The service may still finish it, or close it as failed.",
        ],
      };
    case "vanished":
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "?",
        sentence: `Vanished before it finished: it was ${inState} when last seen.`,
        evidence: ["How it ended is not known. It counts neither as a success nor as a failure."],
      };
    default:
      return {
        look: "idle",
        mark,
        tone: "idle",
        sign: "?",
        sentence:
          state === "finished" && success === null
            ? `Finished${ago === "" ? "" : `, triggered${ago}`}, but the service does not say whether it succeeded.`
            : `How it ended is not known: the service calls its state ${inState}.`,
        evidence: ["It counts neither as a success nor as a failure."],
      };
  }
}

/** The outcome by the record alone. Whether an open build is stuck, only the reports say. */
function outcomeOf({ state, success, deleted_at, open }: ExplainedBuild): string {
  if (state === "finished") return success === null ? "unknown_state" : success ? "succeeded" : "failed";
  if (deleted_at !== null || (open !== null && open.vanished_at !== null)) return "vanished";
  return state === "triggered" || state === "building" ? "open" : "unknown_state";
}
