/**
 * A mirror small enough to compute every answer by hand: 30 builds of a service in Chicago (six hours behind UTC in winter, five in summer). Its
 * build list was last read from 2025-01-09 06:00 on; a walk of the tenth did not come to a good end. Dates of builds are in Chicago, all other
 * times in UTC.
 */
import type { Sql } from "../../src/store/connection/sql.ts";
import { insertTables } from "./insert-rows.ts";
import type { ErrorRule } from "./model/facts.ts";
import { parseTable } from "./text-table.ts";

export const ZONE = "America/Chicago";
export const STUCK_AFTER_MS = 2 * 3_600_000;
export const SETTINGS = { sourceTimezone: ZONE, stuckAfterMs: STUCK_AFTER_MS };

const RUNS = parseTable(`
  kind        | started_at
  full        | 2025-01-08 12:00
  incremental | 2025-01-09 06:00
  incremental | 2025-01-10 06:00
  incremental | 2025-01-10 12:00
`);

const WALKS = parseTable(`
  run_id | resource | walk      | started_at       | finished_at
  1      | build    | whole     | 2025-01-08 12:00 | 2025-01-08 12:05
  2      | build    | head      | 2025-01-09 06:00 | 2025-01-09 06:01
  3      | build    | not_whole | 2025-01-10 06:00 | 2025-01-10 06:01
  3      | project  | whole     | 2025-01-10 06:00 | 2025-01-10 06:01
  4      | build    | head      | 2025-01-10 12:00 | ·
`);

const PROJECTS = parseTable(`
  id | slug | name | repo              | repo_type | documentation_type | default_version | default_branch | pub_date            | listed | deleted_at       | theme   | use_virtualenv
  1  | pip  | Pip  | git://a.example/p | git       | sphinx             | stable          | develop        | 2013-05-01 20:00    | true   | ·                | nature  | true
  2  | ·    | ·    | ·                 | ·         | ·                  | ·               | ·              | ·                   | false  | ·                | ·       | ·
  3  | gone | ·    |                   | hg        | mkdocs             | latest          | ·              | 2014-01-31 17:59:59 | true   | 2025-01-08 12:00 | default | false
`);

/** Of each project, fields that are not documented. */
const LANGUAGES: Record<string, object> = {
  1: { programming_language: { code: "py", name: "Python" }, language: "en" },
  2: { programming_language: ["Python"], language: "de" },
  3: { programming_language: "words" },
};

const VERSIONS = parseTable(`
  id | slug   | verbose_name | identifier    | active | built | uploaded | project_id | deleted_at
  11 | latest | latest       | origin/master | true   | true  | false    | 1          | ·
  12 | stable | Stable 1.0   | 0c4fed7       | false  | true  | true     | 1          | 2025-01-08 12:00
  21 | latest | trunk        | ·             | ·      | ·     | ·        | 2          | ·
  31 | ·      | main         | main          | true   | false | false    | 3          | ·
  41 | lost   | ·            | lost          | true   | false | false    | ·          | ·
`);

const BUILDS = parseTable(`
  id | project_id | version_id | type | date                  | state     | success | deleted_at
  1  | 1          | 11         | html | 2024-12-30 00:00      | finished  | true    | ·
  2  | 1          | 11         | html | 2024-12-30 18:30      | finished  | false   | ·
  3  | 1          | 11         | html | 2024-12-31 18:00      | finished  | false   | ·
  4  | 1          | 11         | html | 2025-01-01 06:00      | finished  | true    | ·
  5  | 1          | 11         | html | 2025-01-02 00:00      | finished  | false   | ·
  6  | 1          | 11         | html | 2025-01-02 00:10      | finished  | true    | ·
  7  | 1          | 11         | html | 2025-01-07 20:00      | finished  | false   | ·
  8  | 1          | 11         | html | 2025-01-08 21:00      | finished  | false   | ·
  9  | 1          | 11         | pdf  | 2025-01-02 06:00      | finished  | false   | ·
  10 | 1          | 11         | pdf  | 2025-01-02 06:00      | finished  | true    | ·
  11 | ·          | ·          | ·    | ·                     | finished  | true    | ·
  12 | ·          | ·          | ·    | 2025-01-02 18:00      | finished  | false   | ·
  13 | 2          | 21         | html | 2024-11-03 01:30      | finished  | true    | ·
  14 | 2          | 21         | html | 2024-03-10 02:30      | finished  | false   | ·
  15 | 2          | 21         | html | 2025-01-06 06:00      | finished  | true    | ·
  16 | 2          | 21         | html | 2025-01-06 06:10      | finished  | ·       | ·
  17 | 2          | 21         | html | 2025-01-08 23:00      | building  | true    | ·
  18 | 2          | 21         | html | 2025-01-08 05:30      | cloning   | ·       | ·
  19 | 2          | 21         | html | 2025-01-06 18:00      | building  | false   | ·
  20 | 2          | 21         | html | 2025-01-06 19:00      | triggered | ·       | ·
  21 | 2          | 21         | html | 2025-01-06 20:00      | building  | ·       | 2025-01-08 12:00
  22 | 3          | 31         | html | 2025-01-05 17:00      | finished  | false   | 2025-01-08 12:00
  23 | 1          | 12         | html | 2025-01-05 18:00      | finished  | false   | ·
  24 | 2          | 21         | html | 2099-12-31 12:00      | finished  | true    | ·
  25 | 2          | 21         | epub | 2025-01-09 19:00      | finished  | true    | ·
  26 | 2          | 21         | html | 2025-01-03 18:00      | uploading | ·       | ·
  27 | 1          | 12         | html | 2024-12-29 17:59:59.5 | finished  | true    | ·
  28 | 1          | 12         | html | 2025-01-05 19:00      | finished  | false   | ·
  29 | 2          | 21         | html | 2025-01-09 06:00      | triggered | ·       | ·
  30 | 2          | 21         | html | ·                     | triggered | ·       | ·
`);

const TRANSITIONS = parseTable(`
  build_id | to_state  | not_before             | not_after              | run_id
  1        | triggered | 2024-12-30 06:00       | 2024-12-30 06:00:20    | 2
  1        | finished  | 2024-12-30 06:02:20    | 2024-12-30 06:03       | 2
  2        | finished  | 2024-12-31 00:30       | 2024-12-31 01:30       | 2
  3        | triggered | 2025-01-01 00:00       | 2025-01-01 00:01       | 2
  3        | finished  | 2025-01-01 00:06       | 2025-01-01 00:06:40    | 2
  4        | triggered | 2025-01-01 12:00       | 2025-01-01 12:00:10    | 2
  4        | building  | 2025-01-01 12:01       | 2025-01-01 12:02       | 2
  4        | finished  | 2025-01-01 12:10       | 2025-01-01 12:15       | 2
  5        | triggered | 2025-01-02 06:00       | 2025-01-02 06:00:20    | 2
  5        | finished  | 2025-01-02 07:00       | 2025-01-02 08:00       | 2
  6        | triggered | 2025-01-02 06:10       | 2025-01-02 06:10:20    | 2
  6        | finished  | 2025-01-02 06:20       | 2025-01-02 06:30       | 2
  7        | triggered | 2025-01-08 02:00       | 2025-01-08 02:01       | 2
  7        | finished  | 2025-01-08 02:05       | 2025-01-08 02:10       | 2
  8        | triggered | 2025-01-09 03:00       | 2025-01-09 03:00:30    | 2
  8        | finished  | 2025-01-09 03:04       | 2025-01-09 03:10       | 2
  9        | finished  | -infinity              | 2025-01-02 12:30       | 2
  10       | finished  | 2025-01-02 12:00       | 2025-01-02 13:00       | 2
  11       | finished  | -infinity              | 2025-01-02 13:00       | 2
  12       | finished  | 2025-01-03 00:00       | 2025-01-03 00:00:50    | 2
  13       | triggered | 2024-11-03 06:30       | 2024-11-03 07:40       | 2
  13       | finished  | 2024-11-03 07:50       | 2024-11-03 08:00       | 2
  14       | finished  | 2024-03-10 07:30       | 2024-03-10 09:00       | 2
  15       | triggered | 2025-01-06 11:58:30    | 2025-01-06 12:01       | 2
  15       | finished  | 2025-01-06 12:03       | 2025-01-06 12:04       | 2
  16       | triggered | 2025-01-06 12:10       | 2025-01-06 12:10:20    | 2
  16       | finished  | 2025-01-06 12:12       | 2025-01-06 12:12:30    | 2
  17       | building  | 2025-01-09 05:00       | 2025-01-09 05:59:01    | 2
  18       | cloning   | 2025-01-08 11:30       | 2025-01-08 12:00:01    | 1
  19       | building  | 2025-01-07 00:00       | 2025-01-07 00:01       | 1
  20       | triggered | 2025-01-07 01:00       | 2025-01-07 01:01       | 1
  20       | vanished  | 2025-01-07 01:01       | 2025-01-07 05:00       | 1
  21       | building  | 2025-01-07 02:00       | 2025-01-07 02:01       | 1
  22       | finished  | 2025-01-05 23:00       | 2025-01-05 23:00:40    | 1
  23       | finished  | 2025-01-06 00:00       | 2025-01-06 00:10       | 1
  24       | finished  | -infinity              | 2025-01-09 06:00       | 2
  25       | finished  | 2025-01-10 01:00       | 2025-01-10 03:00       | 3
  26       | uploading | 2025-01-04 00:00       | 2025-01-04 00:30       | 1
  27       | triggered | 2024-12-29 23:59:59.5  | 2024-12-30 00:00:10    | 1
  27       | finished  | 2024-12-30 00:00:20.25 | 2024-12-30 00:00:30.75 | 1
  28       | finished  | 2025-01-06 01:00       | 2025-01-06 01:01       | 1
  29       | triggered | -infinity              | 2025-01-09 05:00       | 2
  30       | triggered | -infinity              | 2025-01-09 00:00       | 2
`);

const REFERENCES = parseTable(`
  record_id | field   | uri
  11        | project | /api/v1/project/90/
  11        | version | /api/v1/version/900/
  12        | project | /api/v1/project/90/
  12        | version | /api/v1/version/901/
`);

const OPEN_BUILDS = parseTable(`
  build_id | since            | seen_at          | vanished_at
  17       | 2025-01-09 05:00 | 2025-01-09 05:59 | ·
  18       | 2025-01-08 11:30 | 2025-01-08 12:00 | ·
  19       | 2025-01-07 00:00 | 2025-01-09 06:00 | ·
  20       | 2025-01-07 01:01 | 2025-01-07 04:59 | 2025-01-07 05:00
  26       | 2025-01-04 00:00 | 2025-01-04 03:00 | ·
  29       | 2025-01-09 05:00 | 2025-01-09 05:30 | ·
  30       | 2025-01-09 00:00 | 2025-01-09 03:00 | ·
`);

const ESC = "\u001b";
const LOGS: Record<string, Record<string, string>> = {
  // The last marked line counts.
  2: {
    output:
      "Error: retrying\nERROR: No matching distribution found for sphinx==1.2.3\nmake: *** [html] stopped\n",
  },
  // The texts of errors come first, colours go.
  3: { error: `Building\n${ESC}[31mKilled${ESC}[0m\r\n`, output: "ERROR: not this one\n" },
  23: { output: "Killed" },
  // A text with a marker goes before one without.
  14: { error: "a warning", output: "ERROR: No matching distribution found for sphinx==20.0\n" },
  22: { setup_error: "\tERROR: No matching distribution found for sphinx==4.5.6  " },
  12: { output: "building docs\n\nkilled\n\n", setup: "Exception: not this one" },
  // Without any marker it is the last line.
  5: { output: "reading sources\nmake: *** [html] stopped after 7 s\n  \n", setup: "cloned" },
  7: { output: "make: *** [html] stopped after 12 s" },
  9: { setup: "make: *** [html] stopped after 9 s" },
  28: { output: "make: *** [html] stopped after 100 s" },
  // There may be none to tell.
  8: { output: " \n\t\n", error: "" },
  // Of what succeeded nothing is told.
  1: { error: "ERROR: No matching distribution found for sphinx==1.2.3" },
};

export const RULES: readonly ErrorRule[] = [
  { position: 10, pattern: "no matching distribution", class: "dependency", is_platform: false },
  { position: 20, pattern: "^killed$", class: "memory", is_platform: true },
  { position: 30, pattern: "sphinx", class: "docs_source", is_platform: false },
];

export async function insertTinyWorld(sql: Sql): Promise<void> {
  const sightings = { first_seen_at: "2025-01-01 00:00", changed_at: "2025-01-01 00:00", record_hash: "" };
  const firstSeen = new Map(TRANSITIONS.toReversed().map((row) => [row.build_id, row.not_after]));
  const run = { status: "succeeded", pid: 1, host: "test" };
  const seqs = new Map<string, number>();
  const seqOf = (id: string) => {
    seqs.set(id, (seqs.get(id) ?? 0) + 1);
    return seqs.get(id) ?? 0;
  };
  await insertTables(sql, {
    "sync.runs": RUNS.map((row) => ({ ...row, ...run, heartbeat_at: row.started_at ?? "" })),
    "sync.walks": WALKS,
    "mirror.projects": PROJECTS.map((row) => ({ ...row, ...sightings, source: "list" })),
    "mirror.versions": VERSIONS.map((row) => ({ ...row, ...sightings })),
    "mirror.builds": BUILDS.map((row) => {
      return { ...row, ...sightings, first_seen_at: firstSeen.get(row.id ?? "") ?? null };
    }),
    "mirror.build_logs": Object.entries(LOGS).map(([build_id, texts]) => ({
      ...NO_TEXTS,
      build_id,
      ...texts,
    })),
    "mirror.build_transitions": TRANSITIONS.map((row) => ({ ...row, seq: seqOf(row.build_id ?? "") })),
    "mirror.unresolved_references": REFERENCES.map((row) => {
      return { ...row, resource: "build", position: 0, status: "gone" };
    }),
    "sync.open_builds": OPEN_BUILDS.map((row) => ({ ...row, run_id: 2 })),
  });
  for (const [id, values] of Object.entries(LANGUAGES))
    await sql`update mirror.projects set extra = ${JSON.stringify({ values })}::text::jsonb where id = ${id}`;
}

const NO_TEXTS = { output: null, error: null, setup: null, setup_error: null };
