import { createSource, cut, cutOrNull, inWords } from "./source.ts";

/** A streak of a project's main documentation that broke, recovered or ended otherwise, with the build that shows it. */
interface ProjectTurn {
  kind: "broke" | "recovered";
  project_id: string;
  project_slug: string;
  version_id: string;
  version_slug: string;
  type: string;
  build_id: string;
  /** The number of the build, among those that had its id. */
  life: number;
  /** When the build was triggered. */
  at: string;
  /** In a row; null where the break ended without a success after them. */
  failures: number | null;
  broke_at: string | null;
  first_failed_build_id: string;
  error_class: string | null;
  error_line: string | null;
  last_succeeded_build_id: string | null;
  last_succeeded_at: string | null;
  /** How the break ended: null where it begins. */
  ended: "succeeded" | "withdrawn" | "deleted" | "not_main" | null;
  /** The run, where the same build broke or ended it before. */
  again: number | null;
}

export const projectTurns = createSource<ProjectTurn>("projects", "project_turns", (turn) => {
  const { kind, project_id, version_id, type, build_id, life, failures, broke_at, ended, again } = turn;
  const ofBreak = kind === "broke" && {
    error_class: cutOrNull(turn.error_class, 200),
    error_line: cutOrNull(turn.error_line, 500),
    last_succeeded_build_id: turn.last_succeeded_build_id,
    last_succeeded_at: turn.last_succeeded_at,
  };
  const facts = {
    project_id,
    project_slug: cut(turn.project_slug, 200),
    version_id,
    version_slug: cut(turn.version_slug, 200),
    type,
    build_id,
    triggered_at: turn.at,
    failures,
    failing_since: broke_at,
    first_failed_build_id: turn.first_failed_build_id,
    ended,
    ...ofBreak,
  };
  const known = Object.entries(facts).filter(([, value]) => value !== null);
  return {
    // The id of a build may have been another one's, of which a notice was sent.
    subject: ["project", project_id, kind, build_id, life > 1 && life, again]
      .filter((part) => part !== false && part !== null)
      .join("/"),
    type: `project.${kind}`,
    data: { ...Object.fromEntries(known), summary: describeTurn(turn) },
  };
});

function describeTurn({ kind, type, failures, broke_at, error_line, ended, ...turn }: ProjectTurn): string {
  // A slug may be empty.
  const name = cut(turn.project_slug, 100) || `project ${turn.project_id}`;
  const series = `${type} of ${cut(turn.version_slug, 100)}`;
  if (kind === "broke")
    return `${name} broke: ${series} failed${error_line === null ? "." : `: ${cut(error_line, 300)}`}`;
  const since = broke_at === null ? "an unknown time" : inWords(broke_at);
  switch (ended) {
    case "withdrawn":
      return `${name} does not fail any more: the service took back that ${series} failed at ${since}.`;
    case "deleted":
      return `${name} does not fail any more: ${series}, which failed since ${since}, was deleted.`;
    case "not_main":
      return `${name}: ${series}, which fails since ${since}, is not its main documentation any more.`;
    default: {
      const count = failures === 1 ? "one failure" : failures === null ? "failures" : `${failures} failures`;
      return `${name} is fixed: ${series} succeeded after ${count}, first at ${since}.`;
    }
  }
}
