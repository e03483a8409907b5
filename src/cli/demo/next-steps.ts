import type { SettingInForce } from "../../base/config.ts";
import { programName, shellWord } from "../../base/program.ts";
import { showPath } from "../context/mirror-place.ts";

export interface NextStepFacts {
  settings: readonly SettingInForce[];
  dataDir: string;
  /** Set while the simulated service stays up. */
  serviceUrl: string | null;
  /** A build whose transitions were seen; null when there is none. */
  buildId: string | null;
}

const QUERY = "select day, builds, success_rate from report.success_rate_daily order by day desc limit 7";

/** The commands to type after the demo, in the same folder. They contain no password, and need no other program. */
export function nextSteps({ settings, dataDir, serviceUrl, buildId }: NextStepFacts) {
  const program = programName();
  const shown = showPath(dataDir);
  // The next command finds the other sources by itself.
  const isFlag = settings.some(({ key, source }) => key === "dataDir" && source === "flag");
  const folder = isFlag ? ` --data-dir ${shellWord(shown)}` : "";
  const steps = [
    {
      command: `${program} serve${folder}`,
      does: "the report page, for the browser: success by day, what fails now, each project; and the API, below /api/v1/",
    },
    { command: `${program} status${folder}`, does: "how fresh the mirror is, its runs, open builds" },
    {
      command: `${program} report failing_now${folder}`,
      does: "what fails now; without a name it lists all reports",
    },
    {
      command: `${program} sql "${QUERY}"${folder}`,
      does: "a question of your own; docs/cookbook.md has fifteen",
    },
    {
      command: `${program} database${folder}`,
      does: "keeps the database up and prints its URL, with --with-password for psql or a BI tool",
    },
  ];
  if (buildId !== null) {
    steps.splice(2, 0, {
      command: `${program} explain build ${shellWord(buildId)}${folder}`,
      does: "one build: when it entered each state, and how that is known",
    });
  }
  if (serviceUrl !== null) {
    steps.push({
      command: `${program} get build --limit 3 --base-url ${serviceUrl}`,
      does: "asks the simulated service, which is still up",
    });
  }
  steps.push({
    command: `${program} sync --base-url https://docs.example.org --data-dir .docmirror-real`,
    does: "mirrors a real service, in another folder",
  });
  return steps;
}
