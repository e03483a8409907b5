import { html } from "hono/html";
import { anomalyWords, missingWords, sightingWords, stateName, whyNotBefore } from "../builds/bound-words.ts";
import type {
  BuildExplanation,
  ExplainedBuild,
  ExplainedChange,
  ExplainedReference,
  ExplainedTransition,
  QuarantinedSighting,
} from "../builds/explain-build.ts";
import { formatBetween, formatSpan } from "../builds/format-span.ts";
import type { TransactionSql } from "../db/connect.ts";
import { askFor, type Question } from "../report/question.ts";
import { outcomeWords, type Row } from "./cells.ts";
import { projectHref } from "./links.ts";
import { foreign, type Markup, shorten } from "./words.ts";

/** Of each kind the newest so many are shown; the command line has all. */
const MOST_SHOWN = 50;
const VALUE_LENGTH = 120;

type Entry = readonly [label: string, words: Markup | string];

/** The row of one build in `report.fact_builds`. */
export function askForBuild(id: string): Question {
  return askFor("fact_builds", {}, (hold) => [`build_id = ${hold(id)}`]);
}

/** The row that such a question gives, if there is one. */
export function findFacts(tx: TransactionSql, { text, params }: Question): Promise<readonly Row[]> {
  return tx.unsafe<Row[]>(text, params);
}

/**
 * What is known of a build and how: its facts as the reports count them, then state by state the two moments between which each was entered
 * and what set them. `fact` is missing until the reports have been refreshed.
 */
export function renderBuild(
  build: ExplainedBuild,
  quarantine: readonly QuarantinedSighting[],
  fact: Row | undefined,
  question: Question,
): Markup {
  return html`<dl class="facts">
${renderEntries([...factEntries(fact), ...buildEntries(build)])}</dl>
<section class="block" id="states" aria-labelledby="states-title">
<h2 id="states-title">Its states</h2>
<p class="meaning">A state was entered after the first moment, and by the second one at the latest, when a reply first showed it.</p>
${newest(build.transitions, (one) => renderTransition(one, build.transitions))}
</section>
${build.changes.length === 0 ? "" : renderList("changes", "What changed in its record", build.changes, changeEntry)}
${quarantine.length === 0 ? "" : renderList("quarantine", "Replies that could not be stored", quarantine, quarantineEntry)}
${fact === undefined ? "" : renderFactRow(fact)}
<div class="ways">
<p>On the command line: <code>docmirror explain build ${shorten(build.id)}</code></p>
<details class="sql"><summary>Show SQL<span class="unseen">: how the reports count this build</span></summary>
<pre tabindex="0">${question.readable}</pre>
</details>
</div>`;
}

/** Why there is no page of a build: it may wait in quarantine. */
export function absenceWords({ quarantine }: BuildExplanation): Markup | string {
  const last = quarantine.findLast(({ resolved_at }) => resolved_at === null);
  if (last === undefined) return "The mirror has no build of this id.";
  return html`<p>The mirror has no build of this id: it came, but could not be stored: ${foreign(last.reason, 300)}</p>
<p><code>docmirror quarantine --resource build</code> shows what was sent.</p>`;
}

/** The row that SQL and CSV have of it, under the names that they have for it. */
function renderFactRow(fact: Row): Markup {
  const entries = Object.entries(fact).map(
    ([name, value]): Entry => [
      name,
      value === null ? html`<small>null</small>` : foreign(String(value), 400),
    ],
  );
  return html`<section class="block" id="row" aria-labelledby="row-title">
<h2 id="row-title">How the reports count it</h2>
<p class="meaning">Its row in <code>report.fact_builds</code>. The middle of the two bounds is its duration where they are close enough to say one.</p>
<details class="numbers"><summary>All columns</summary>
<dl class="facts">
${renderEntries(entries)}</dl>
</details>
</section>`;
}

function factEntries(fact: Row | undefined): Entry[] {
  if (fact === undefined) return [["Outcome", "not counted yet: the reports are computed when a run ends"]];
  const project = String(fact.project_slug);
  const text = (name: string, length = 80) => foreign(String(fact[name]), length);
  const entries: Entry[] = [
    ["Outcome", html`<strong>${outcomeWords(fact.outcome)}</strong>`],
    ["Project", html`<a href="${projectHref(project)}">${foreign(project)}</a>`],
    ["Version", text("version_slug")],
    ["Type", text("type")],
  ];
  if (fact.error_class !== null) entries.push(["Error class", text("error_class")]);
  if (fact.output_excerpt !== null)
    entries.push(["Error line", html`<code>${text("output_excerpt", 400)}</code>`]);
  return entries;
}

function buildEntries(build: ExplainedBuild): Entry[] {
  const { date, date_read: read, open, duration, changes_pruned_before: pruned } = build;
  const hour = read?.hour
    ? html` or ${exact(read.latest)}: summer time ${read.hour === "repeated" ? "repeats" : "skips"} that hour`
    : "";
  const entries: Entry[] = [
    ["State", foreign(stateName(build.state))],
    ...build.references.map(
      (one): Entry => [
        one.field === "project" ? "Project's record" : "Version's record",
        referenceWords(one),
      ],
    ),
    [
      "Date",
      date === null
        ? "none that can be read"
        : html`${foreign(date)} as sent, without a zone${read ? html`; ${exact(read.earliest)}${hour}, read in ${read.zone}` : ""}`,
    ],
  ];
  if (duration) entries.push(["Took", `${formatBetween(duration)} from the trigger to the finish`]);
  entries.push(["First seen", exact(build.first_seen_at)]);
  if (build.changed_at !== build.first_seen_at) entries.push(["Last changed", exact(build.changed_at)]);
  if (build.deleted_at)
    entries.push([
      "Deleted",
      html`${exact(build.deleted_at)}: a whole walk missed it and its detail was gone`,
    ]);
  if (open) {
    const asked = open.last_seen.asked_at;
    entries.push(["In its state since", exact(open.since)]);
    entries.push([
      "Last seen",
      html`${asked === null ? "" : exact(asked)} ${renderSighting(open.last_seen)}`,
    ]);
    if (open.vanished_at)
      entries.push(["Vanished", html`${exact(open.vanished_at)}: its detail answered that it is not there`]);
  }
  if (pruned) entries.push(["Pruned", html`changes before ${exact(pruned)}`]);
  return entries;
}

function referenceWords({ uri, status, id, deleted_at, checked_at }: ExplainedReference): Markup {
  const sent = uri === null ? "" : html`, <code>${foreign(uri, 120)}</code> as sent`;
  if (status === "none") return html`none`;
  if (status === "found")
    return html`${foreign(id ?? "")}${deleted_at === null ? "" : html`, deleted ${exact(deleted_at)}`}${sent}`;
  return html`${missingWords(status)}${checked_at === null ? "" : html`, asked ${exact(checked_at)}`}${sent}`;
}

function renderTransition(transition: ExplainedTransition, all: readonly ExplainedTransition[]): Markup {
  const { seq, from_state, to_state, not_before, not_after, width_ms, lasted } = transition;
  const next = all.find((one) => one.seq === seq + 1);
  const last = transition.predecessor_last_seen;
  const title =
    seq === 1 ? `first seen ${stateName(to_state)}` : `${stateName(from_state)} → ${stateName(to_state)}`;
  return html`<h3>${seq}. ${foreign(title)}</h3>
<dl class="facts">
${renderEntries([
  [
    "After",
    html`<strong>${width_ms === null ? "unknown" : exact(not_before)}</strong><br>${foreign(whyNotBefore(transition), 300)}${last ? html`<br>${renderSighting(last)}` : ""}`,
  ],
  [
    "By",
    html`<strong>${exact(not_after)}</strong><br>when the reply was here that first showed it<br>${renderSighting(transition.first_seen)}`,
  ],
  ["Within", width_ms === null ? "unknown" : formatSpan(width_ms)],
  ...(lasted
    ? [
        [
          "Lasted",
          html`${formatBetween(lasted)}, until it became ${foreign(stateName(next?.to_state ?? null))}`,
        ] as const,
      ]
    : []),
  ...transition.anomalies.map((name): Entry => ["Odd", foreign(anomalyWords(name), 200)]),
])}</dl>
`;
}

function renderSighting(sighting: Parameters<typeof sightingWords>[0]): Markup {
  const [run = "", request = ""] = sightingWords(sighting).split("\n");
  return html`<small>${foreign(run, 120)}: <code>${foreign(request, 200)}</code></small>`;
}

function changeEntry({ kind, observed_at, run_id, before, after }: ExplainedChange): Entry {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const lines = fields.map(
    (field) =>
      html`<br>${foreign(field)}: <code>${valueText(before?.[field])}</code> → <code>${valueText(after?.[field])}</code>`,
  );
  return [kind, html`${exact(observed_at)}, run ${run_id}${lines}`];
}

/** Texts of the log stand there by their hash. */
function valueText(value: unknown): Markup {
  const { md5, bytes } = (value ?? {}) as { md5?: unknown; bytes?: unknown };
  if (typeof md5 === "string" && typeof bytes === "number")
    return html`${bytes} bytes, md5 ${foreign(md5, 9)}`;
  return foreign(JSON.stringify(value ?? null), VALUE_LENGTH);
}

function quarantineEntry(sighting: QuarantinedSighting): Entry {
  const { id, run_id, reason, request, created_at, resolved_at } = sighting;
  return [
    `row ${id}`,
    html`${exact(created_at)}, run ${run_id}, ${resolved_at === null ? "not resolved" : html`resolved ${exact(resolved_at)}`}<br>${foreign(reason, 300)}${request === null ? "" : html`<br><code>GET ${foreign(request, 200)}</code>`}`,
  ];
}

function renderList<T>(id: string, title: string, all: readonly T[], entryOf: (one: T) => Entry): Markup {
  return html`<section class="block" id="${id}" aria-labelledby="${id}-title">
<h2 id="${id}-title">${title} (${all.length})</h2>
<dl class="facts">
${newest(all, (one) => renderEntries([entryOf(one)]))}</dl>
</section>`;
}

function newest<T>(all: readonly T[], render: (one: T) => Markup): Markup {
  const left = all.length - MOST_SHOWN;
  return html`${left > 0 ? html`<div><dt>…</dt><dd>${left} earlier ones are left out</dd></div>` : ""}${all.slice(-MOST_SHOWN).map(render)}`;
}

function renderEntries(entries: readonly Entry[]): Markup {
  return html`${entries.map(
    ([label, words]) => html`<div><dt>${label}</dt><dd>${words}</dd></div>
`,
  )}`;
}

/** A moment to the fraction of a second: here a bound is what is asked for. */
function exact(text: string): Markup {
  const [day = "", time = ""] = text.replace(/\+00$/, "").split(/[ T]/);
  return html`<time datetime="${day}T${time}Z">${day} ${time}</time>`;
}
