import {
  describeBuild,
  type Entry,
  type Line,
  type Newest,
  type Piece,
  type Section,
} from "../../mirror/builds/describe-build.ts";
import {
  type ExplainedBuild,
  explainBuild,
  type QuarantinedBuild,
} from "../../mirror/builds/explain-build.ts";
import { type AnySql, statement, type TransactionSql } from "../../store/connection/sql.ts";
import { block, part } from "../parts/block.ts";
import { tookWords } from "../parts/bounds.ts";
import { askForBuild, type Build } from "../parts/builds.ts";
import type { Verdict, VerdictLook } from "../parts/document.ts";
import {
  foreign,
  html,
  joined,
  type Markup,
  sentences,
  shorten,
  slugWords,
  targetWords,
} from "../parts/html.ts";
import { kindLabel, kindMeaning } from "../parts/kinds.ts";
import { projectLink, webAddress } from "../parts/links.ts";
import { ago, icon, momentTag, outcomeMark } from "../parts/marks.ts";
import { type Fact, renderFacts } from "../parts/tables.ts";
import { askAround, renderNeighbours } from "./around.ts";
import type { BuildSaid, BuildScope, Story } from "./build-scope.ts";
import { findErrorPlace, readLogTails } from "./log-tail.ts";

/** The newest states, changes and refused replies that a page shows. The command line has all. */
const MOST_SHOWN = 50;

/** The end of a build and its reason, with the builds before and after it. `told` is null where the mirror does not have it. */
export const buildVerdict = part({
  asks: ({ fact }: BuildScope) => askAround(fact),
  async draw(around, scope, _said, tx) {
    const { build, quarantine } = await explainBuild(tx, scope.id, scope.sourceTimezone);
    if (build === null) return { told: null, quarantine };
    const story = await readStory(tx, build, quarantine);
    const outcome = scope.fact === undefined ? outcomeOf(build) : toOutcome(scope.fact.outcome);
    const told: BuildSaid = {
      ...story,
      verdict: judgeBuild(story, outcome, scope),
      isFailed: outcome === "failed",
      neighbours: renderNeighbours(scope, around),
    };
    return { told, quarantine };
  },
});

async function readStory(
  tx: TransactionSql,
  build: ExplainedBuild,
  quarantine: readonly QuarantinedBuild[],
): Promise<Story> {
  const { id } = build;
  const isFailed = build.stage === "result" && build.success === false;
  const [tails, place, upstream] = await Promise.all([
    readLogTails(tx, id),
    isFailed ? findErrorPlace(tx, id) : null,
    findUpstreamLinks(tx, id),
  ]);
  const description = describeBuild(build, quarantine, MOST_SHOWN);
  return { build, description, tails, place, upstream };
}

const UPSTREAM_LINKS = statement<{
  base_url: string | null;
  subdomain: string | null;
  absolute_url: string | null;
}>("upstream_links", import.meta.url);

/** The addresses of the build's record and its project's documentation at the service, by http or https; null where there is none. */
async function findUpstreamLinks(sql: AnySql, buildId: string) {
  const [row] = await UPSTREAM_LINKS(sql, { id: buildId });
  const { base_url: baseUrl = null, subdomain = null, absolute_url: path = null } = row ?? {};
  return {
    record: baseUrl === null ? null : webAddress(`${baseUrl}/api/v1/build/${encodeURIComponent(buildId)}/`),
    docs: webAddress(subdomain) ?? (baseUrl === null ? null : webAddress(path, `${baseUrl}/`)),
  };
}

/**
 * The words of the error line, as the log has it, without colours: the message, where a line announces one. As the
 * reports have it where the page lacks that line.
 */
function errorLineOf({ place, tails }: Story): string | null {
  if (place === null) return null;
  const tail = tails.find(({ part }) => part === place.part);
  const line = tail?.lines.find(({ number }) => number === place.lines.at(-1));
  return line?.text.trim() || place.excerpt;
}

const LINE_LENGTH = 180;
const STATE_LENGTH = 40;

/** The look of a verdict, and the sign before its title. */
const OUTCOME_LOOKS = {
  failed: ["some", "✗"],
  succeeded: ["good", "✓"],
  open: ["idle", "…"],
  stuck: ["warn", "!"],
  vanished: ["idle", "?"],
  cancelled: ["idle", "="],
  unknown_state: ["idle", "?"],
} as const satisfies Record<string, [VerdictLook, string]>;

type Outcome = keyof typeof OUTCOME_LOOKS;

const toOutcome = (outcome: string): Outcome =>
  Object.hasOwn(OUTCOME_LOOKS, outcome) ? (outcome as Outcome) : "unknown_state";

/** Says no more of a build than is known. */
function judgeBuild(story: Story, outcome: Outcome, scope: BuildScope): Verdict {
  const { id, fact, now } = scope;
  const { build, tails, upstream } = story;
  const [look, sign] = OUTCOME_LOOKS[outcome];
  const project = projectOf(fact);
  const [sentence, evidence] = sayOutcome(outcome, story, scope);
  const meaning = kindMeaning(fact?.error_class);
  const found = ago(build.deleted_at, now);
  const took = build.duration === null ? "" : `, took ${tookWords(build.duration)}`;
  const at = (moment: unknown) =>
    moment === null ? ", of no known date" : html`, triggered ${momentTag(moment, now)}`;
  const of = fact && html` ${targetWords(fact)} of ${project}${at(fact.triggered_at)}${took}.`;
  const isThere = build.deleted_at === null && outcome !== "vanished";
  const out = (href: string, words: string) =>
    html`<a href="${href}" rel="noreferrer">${words} ${icon("out")}</a>`;
  return {
    title: `${sign} Build ${shorten(id, 24)}${fact === undefined ? "" : ` of ${shorten(fact.project_slug, 40)}`}`,
    look,
    mark: outcomeMark(outcome),
    crumbs: html`<a href="/projects">Projects</a> / ${project} / build ${foreign(id, 24)}`,
    sentence,
    evidence: html`${sentences(
      outcome === "failed" &&
        fact !== undefined &&
        `${kindLabel(fact.error_class)}${meaning === null ? "" : `: ${meaning}`}.`,
      evidence,
      build.deleted_at !== null &&
        html`The service no longer has it${found && html`, as was found ${found}`}.`,
      fact === undefined && "It is not counted yet: the reports are computed when a run ends.",
      fact?.is_dated_ahead && "Its date is beyond tomorrow, so it counts as a build without a date.",
    )}${of}`,
    acts: html`${outcome === "failed" && html`<a href="#why">Why</a>`}
      ${tails.length > 0 && html`<a href="#log">The whole log</a>`}
      ${upstream.docs !== null && out(upstream.docs, "Its documentation")}
      ${upstream.record !== null && isThere && out(upstream.record, "Its record, as JSON")}`,
  };
}

/** A sentence, and what else there is to say. */
function sayOutcome(
  outcome: Outcome,
  story: Story,
  { fact, now, isNow }: BuildScope,
): [sentence: Markup | string, evidence?: string] {
  const { state, stage, open, date_read } = story.build;
  const known = ago(fact === undefined ? date_read?.earliest : fact.triggered_at, now);
  const then = known === null ? "" : html` ${known}`;
  const triggered = then && html`, triggered${then}`;
  const inState = state === null ? "without a state" : `“${shorten(state, STATE_LENGTH)}”`;
  const looked = ago(open?.last_seen.asked_at, now);
  const seen = html`still ${inState} when last seen${looked && html`, ${looked}`}`;
  switch (outcome) {
    case "failed": {
      const line = story.build.archived_log?.error_line ?? errorLineOf(story);
      return [
        html`Failed${then}${line === null ? "; its log does not say why" : `: ${shorten(line, LINE_LENGTH)}`}`,
      ];
    }
    case "succeeded":
      return [html`Succeeded${then}.`];
    case "open":
      return [
        html`${isNow ? "In progress" : "It was in progress"}, triggered${then}: ${seen}.`,
        "Whether it succeeds is not known yet.",
      ];
    case "stuck":
      return [
        html`${isNow ? "Stuck" : "It was stuck"}, triggered${then}: ${seen}.`,
        `${NEITHER} The service may still finish it, or close it as failed.`,
      ];
    case "vanished":
      return [
        `Vanished before it finished: it was ${inState} when last seen.`,
        `How it ended is not known. ${NEITHER}`,
      ];
    case "cancelled":
      return [html`Cancelled${triggered}: it ended ${inState}.`, NEITHER];
    default:
      return [
        stage === "result"
          ? html`Finished${triggered}, but the service does not say whether it succeeded.`
          : `How it ended is not known: the service calls its state ${inState}.`,
        NEITHER,
      ];
  }
}

const NEITHER = "It counts neither as a success nor as a failure.";

/** The outcome by the record alone. Only the reports say that an open build is stuck. */
function outcomeOf({ stage, success, deleted_at, open }: ExplainedBuild): Outcome {
  if (stage === "cancelled") return stage;
  if (stage === "result") return success === null ? "unknown_state" : success ? "succeeded" : "failed";
  if (deleted_at !== null || (open !== null && open.vanished_at !== null)) return "vanished";
  return stage === null ? "unknown_state" : "open";
}

/** The facts of a build: as the reports count it, as the service sent it, and its whole row. */
export const facts = block({
  id: "facts",
  file: ({ id }) => askForBuild(id),
  draw: (_found, { id, fact, now }: BuildScope, { description: { state, facts } }: BuildSaid) => ({
    title: "Facts",
    body: html`${renderFacts([
      ["Build", foreign(id, 40)],
      ...(fact === undefined ? [["Outcome", "not counted yet"] as const] : countedFacts(fact, now)),
    ])}
<details class="fold"${fact === undefined && " open"}><summary>As the service sent it</summary>
${renderFacts([["State", foreign(state, 300)], ...facts.map(toFact)])}
</details>
${
  fact &&
  html`<details class="fold"><summary>Its row in report.fact_builds</summary>
${renderFacts(
  Object.entries(fact).map(([name, value]) => [
    name,
    value === null ? html`<small>null</small>` : foreign(String(value), 400),
  ]),
)}
</details>`
}
<p class="note">At the command line: <code>docmirror explain build ${foreign(id, 40)}</code></p>`,
  }),
});

const entries = (id: "changes" | "quarantine", title: string) =>
  block({
    id,
    narrowedBy: null,
    draw(_found, _scope, { description }: BuildSaid) {
      const { shown, left } = description[id];
      return shown.length === 0
        ? null
        : {
            title,
            count: String(left + shown.length),
            body: html`${renderLeft(left)}${renderFacts(shown.map(toFact))}`,
          };
    },
  });

export const changes = entries("changes", "What changed in its record");
export const quarantine = entries("quarantine", "Replies that could not be stored");

function countedFacts(fact: Build, now: Date): Fact[] {
  const { finished_after: after, finished_before: before, error_class: kind } = fact;
  const code = (text: string | null) => text !== null && html`<code>${foreign(text, 80)}</code>`;
  return [
    ["Outcome", html`<strong>${outcomeMark(fact.outcome)[1]}</strong>`],
    ["Project", projectOf(fact)],
    ["Of", targetWords(fact)],
    ["Triggered", fact.triggered_at === null ? "not known" : momentTag(fact.triggered_at, now)],
    [
      fact.outcome === "cancelled" ? "Cancelled" : "Finished",
      before !== null &&
        html`${after !== null && html`${momentTag(after, now)} to `}${momentTag(before, now)}`,
    ],
    ["Error", kind !== null && html`${kindLabel(kind)} <small class="quiet">${foreign(kind, 40)}</small>`],
    ["Error line", code(fact.error_line_id)],
    ["Its kind", code(fact.error_fingerprint)],
    ["Named", code(fact.reference)],
  ];
}

/** The project of a build as a link, where the mirror has it. */
const projectOf = (fact: Build | undefined): Markup =>
  fact === undefined || fact.project_slug === "(unknown)"
    ? slugWords("(unknown)")
    : projectLink(fact.project_slug);

/** The maximum length of texts of the service, and of values of its fields. */
const TEXT_LENGTH = 300;
const VALUE_LENGTH = 120;

/** Labels whose meaning would differ from the same label in the reports. */
const LABELS: Readonly<Record<string, string>> = { project: "Project's record", version: "Version's record" };

const renderLeft = (left: number): Markup | false =>
  left > 0 && html`<p class="note">${left} earlier ones are left out.</p>`;

/** The states that a build entered: the two bounds of each, and how they are known. */
export const renderStates = ({ shown, left }: Newest<Section>): Markup =>
  html`${renderLeft(left)}${shown.map(
    ({ title, entries }) => html`<h3 class="sub">${foreign(title)}</h3>
${renderFacts(entries.map(toBound))}
`,
  )}`;

const toFact = ({ label, lines }: Entry): Fact => [
  LABELS[label] ?? label.charAt(0).toUpperCase() + label.slice(1),
  joined(lines.map(renderPieces), html`<br>`),
];

/** A bound of a state. The moment is bold; the lines below say how it is known. */
function toBound(entry: Entry): Fact {
  const [answer = [], ...reasons] = entry.lines;
  const [label, words] = toFact(entry);
  if (reasons.length === 0) return [label, words];
  return [
    label,
    joined([html`<strong>${renderPieces(answer)}</strong>`, ...reasons.map(renderPieces)], html`<br>`),
  ];
}

const PIECES: Readonly<Record<Exclude<Piece, string>["kind"], (text: string) => Markup>> = {
  moment: exact,
  uri: (text) => html`<code>${foreign(text, TEXT_LENGTH)}</code>`,
  value: (text) => html`<code>${foreign(text, VALUE_LENGTH)}</code>`,
  run: (text) => html`<small>${text}</small>`,
  request: (text) => html`<small><code>${foreign(text, TEXT_LENGTH)}</code></small>`,
  foreign: (text) => foreign(text, TEXT_LENGTH),
};

const renderPieces = (line: Line): Markup =>
  html`${line.map((piece) => (typeof piece === "string" ? piece : PIECES[piece.kind](piece.text)))}`;

/** A moment with its fraction of a second, because the reader of a bound wants it exact. */
function exact(text: string): Markup {
  const [day = "", time = ""] = text.split(/[ T]/);
  return html`<time datetime="${day}T${time}Z">${day} ${time}</time>`;
}
