import { knownStage } from "../resources/build-states.ts";
import type {
  BuildRecord,
  FileRecord,
  ProjectRecord,
  UserRecord,
  VersionRecord,
} from "../resources/resources.ts";
import { type BuildLife, type BuildLives, type BuildStore, type FailureKind, stateAt } from "./builds.ts";
import type { LocalDates, Micros } from "./local-dates.ts";
import type { FileRow, Population, ProjectRow, UserRow, VersionRow } from "./population.ts";
import {
  capital,
  createRandom,
  FIRST_NAMES,
  hash,
  LAST_NAMES,
  ODD_TEXTS,
  type Random,
  STREAM,
  sentence,
  word,
} from "./random.ts";
import type { WorldSettings } from "./settings.ts";

/** The path of a file in the documentation of its version, such as `reed/sage.html`. */
export function filePath(seed: number, id: number): string {
  const random = createRandom(hash(seed, STREAM.file, id));
  const name = random.chance(0.5)
    ? random.pick(["index", "search", "genindex", "py-modindex"])
    : word(random);
  let path = `${name}.html`;
  for (let depth = random.int(3); depth > 0; depth--) path = `${word(random)}/${path}`;
  return path;
}

/** The address of a file's page, without the base path. */
export function pagePath(seed: number, { id, version }: FileRow): string {
  return `/docs/${version.project.slug}/en/${version.slug}/${filePath(seed, id)}`;
}

export function subdomain(slug: string): string {
  return `http://${slug}.docs.example.org/`;
}

/** The parts of a world. */
export interface WorldParts {
  readonly settings: WorldSettings;
  readonly dates: LocalDates;
  readonly population: Population;
  readonly builds: BuildStore;
  readonly lives: BuildLives;
}

/** Turns rows into wire records. Their keys are sorted already, as the protocol sends them. */
export function createRecords({ settings, dates, population, builds, lives }: WorldParts) {
  const { seed, oddTexts } = settings;
  const apiPath = `${settings.basePath}/api/v1`;
  const date = (moment: Micros): string => dates.write(dates.toLocal(moment));

  function user(row: UserRow): UserRecord {
    const random = createRandom(hash(seed, STREAM.user, row.id + 0.5e9));
    const first = random.pick(FIRST_NAMES);
    const last = random.pick(LAST_NAMES);
    const named = random.chance(0.7);
    const odd = oddTexts && random.chance(0.02) ? random.pick(ODD_TEXTS) : undefined;
    return {
      first_name: odd ?? (named ? first : ""),
      id: String(row.id),
      last_login: row.lastLoginAt === null ? null : date(row.lastLoginAt),
      last_name: named ? last : "",
      resource_uri: `${apiPath}/user/${row.id}/`,
      username: `${first}${random.pick(["-", "_", ""])}${last}`.toLowerCase() + row.id,
    };
  }

  /** Many records embed the same project. Caching it until it changes saves half of the cost of a page. */
  const made = new WeakMap<ProjectRow, { revision: number; record: ProjectRecord }>();

  function project(row: ProjectRow): ProjectRecord {
    const known = made.get(row);
    if (known?.revision === row.revision) return known.record;
    const record = makeProject(row);
    made.set(row, { revision: row.revision, record });
    return record;
  }

  function makeProject(row: ProjectRow): ProjectRecord {
    const random = createRandom(hash(seed, STREAM.project, row.id + 0.5e9));
    const { slug } = row;
    const often = (text: string): string => (random.chance(0.5) ? text : "");
    const words = createRandom(hash(seed, STREAM.project, row.id + 1e9 + row.edition * 7919));
    const length = words.int(25);
    const odd = oddTexts && random.chance(0.03) ? random.pick(ODD_TEXTS) : undefined;
    const oddDescription = oddTexts && random.chance(0.03) ? random.pick(ODD_TEXTS) : "";
    const owner = random.pick(LAST_NAMES);
    return {
      absolute_url: `/projects/${slug}/`,
      analytics_code: random.chance(0.03) ? null : random.chance(0.1) ? `UA-${1e6 + random.int(9e6)}-1` : "",
      copyright: random.chance(0.3) ? "" : random.chance(0.3) ? "© 2024" : `2024, ${owner}`,
      default_branch: random.pick(["", "", "master", "develop", "trunk", null]),
      default_version: random.chance(0.85) ? "latest" : "stable",
      description: oddDescription + (length === 0 ? "" : sentence(words, length)),
      documentation_type: random.chance(0.9) ? "docgen" : "docgen_html",
      id: String(row.id),
      modified_date: date(row.modifiedAt),
      name: odd ?? `${capital(word(random))} ${random.pick(["kit", "tools", "core", "docs", "client"])}`,
      pkgdirectory_url: often(`http://dir.example.org/${slug}`),
      pkgindex_url: often(`http://index.example.org/p/${slug}`),
      project_url: often(`http://www.example.org/${slug}`),
      pub_date: date(row.publishedAt),
      repo: random.pick([
        `https://git.example.org/u/${slug}`,
        `git://git.example.org/${slug}.git`,
        `lp:${slug}`,
      ]),
      repo_type: random.pick(["git", "git", "git", "hg", "bzr", "svn"]),
      requirements_file: random.pick(["", "", "docs/requirements.txt", null]),
      resource_uri: `${apiPath}/project/${row.id}/`,
      slug,
      subdomain: subdomain(slug),
      suffix: random.chance(0.9) ? ".rst" : ".txt",
      theme: random.pick(["default", "default", "nature", "pyramid"]),
      use_virtualenv: random.chance(0.3),
      users: row.users.map((id) => `${apiPath}/user/${id}/`),
      version: random.chance(0.8) ? "" : "1.0",
    };
  }

  function version(row: VersionRow): VersionRecord {
    return {
      active: row.active,
      built: row.built,
      id: String(row.id),
      identifier:
        row.verboseName === "latest"
          ? "master"
          : row.slug === row.verboseName
            ? hash(seed, STREAM.version, row.id + 0.5e9)
                .toString(16)
                .padStart(8, "0")
                .repeat(5)
            : `remotes/origin/${row.verboseName}`,
      project: project(row.project),
      resource_uri: `${apiPath}/version/${row.id}/`,
      slug: row.slug,
      uploaded: hash(seed, STREAM.version, row.id + 1e9) % 50 === 0,
      verbose_name: row.verboseName,
    };
  }

  function file(row: FileRow): FileRecord {
    const path = filePath(seed, row.id);
    return {
      absolute_url: pagePath(seed, row),
      id: String(row.id),
      name: path.slice(path.lastIndexOf("/") + 1),
      path,
      project: project(row.version.project),
      resource_uri: `${apiPath}/file/${row.id}/`,
    };
  }

  function build(row: number, now: Micros): BuildRecord {
    const projectId = builds.project(row);
    const versionId = builds.version(row);
    const life = lives.lifeOf(row, builds.createdAt(row), projectId);
    const state = stateAt(life, now);
    const stage = knownStage(state);
    const finished = stage === "result";
    const projectSlug = population.projects.find(projectId)?.slug ?? "unknown";
    const versionSlug = (versionId !== null && population.versions.find(versionId)?.slug) || "latest";
    const { error, output, setup, setup_error } = finished
      ? buildTexts(settings, row, life, projectSlug, versionSlug)
      : NO_TEXTS;
    const id = builds.idOf(row);
    return {
      date: dates.write(builds.date(row)),
      error,
      id: String(id),
      output,
      project: `${apiPath}/project/${projectId}/`,
      resource_uri: `${apiPath}/build/${id}/`,
      setup,
      setup_error,
      state,
      success: finished || stage === "cancelled" ? life.success : true,
      type: life.type,
      version: versionId === null ? null : `${apiPath}/version/${versionId}/`,
    };
  }

  return { user, project, version, file, build };
}

export type Records = ReturnType<typeof createRecords>;

const UNREACHABLE = [
  "Could not resolve host: git.example.org",
  "The requested URL returned error: 503",
  "Failed to connect to git.example.org port 443",
] as const;

type BuildTexts = Record<"output" | "error" | "setup" | "setup_error", string>;

/** A build that has not finished has no output yet. */
const NO_TEXTS: BuildTexts = { output: "", error: "", setup: "", setup_error: "" };

/** The texts of a finished build, computed again from its row number each time. */
function buildTexts(
  settings: WorldSettings,
  row: number,
  { failure }: BuildLife,
  projectSlug: string,
  versionSlug: string,
): BuildTexts {
  const { seed } = settings;
  const random = createRandom(hash(seed, STREAM.buildTexts, row));
  const checkout = `checkouts/${projectSlug}/${versionSlug}/docs`;
  const commit = hash(seed, STREAM.buildTexts, row + 0.5e9)
    .toString(16)
    .padStart(8, "0");
  const setup = `HEAD is now at ${commit} ${sentence(random, 4)}\n`;
  // With these two the documentation tool was not started at all.
  const isRun = failure !== "clone" && failure !== "distribution";
  const output = isRun ? writeOutput(random, checkout, settings, failure === null) : "";
  const texts = { output, error: "", setup, setup_error: "" };
  return failure === null
    ? texts
    : { ...texts, ...failureTexts(failure, random, checkout, projectSlug, setup) };
}

function writeOutput(
  random: Random,
  checkout: string,
  style: Pick<WorldSettings, "outputBytes" | "oddTexts">,
  succeeds: boolean,
): string {
  if (style.outputBytes <= 0) return "";
  const size = style.outputBytes * (0.5 + random.next());
  const odd = style.oddTexts && random.chance(0.1) ? random.pick(ODD_TEXTS) : undefined;
  let text = "Running docgen v1.4.2\nloading pickled environment... done\n";
  const end = succeeds ? "build succeeded.\n" : "build finished with problems.\n";
  while (text.length + end.length < size) {
    const kind = random.next();
    if (kind < 0.2) {
      text += `${checkout}/${word(random)}/${word(random)}.rst:${1 + random.int(900)}: WARNING: undefined label: ${word(random)}\n`;
    } else {
      const percent = Math.min(100, Math.floor((100 * text.length) / size));
      text += `${kind < 0.6 ? "reading sources" : "writing output"}... [${String(percent).padStart(3)}%] ${word(random)}/${word(random)}\n`;
    }
  }
  if (odd !== undefined) text += `\u001b[33mnote\u001b[0m: ${odd}\n`;
  return text + end;
}

function failureTexts(
  failure: FailureKind,
  random: Random,
  checkout: string,
  projectSlug: string,
  setup: string,
): Partial<BuildTexts> {
  const name = word(random);
  const line = 1 + random.int(400);
  switch (failure) {
    case "clone":
      return {
        setup: "Cloning into '.'...\n",
        setup_error:
          `fatal: unable to access 'https://git.example.org/u/${projectSlug}/': ` +
          `${random.pick(UNREACHABLE)}\n` +
          "git clone failed: exit 128\n",
        error: "Failed to import project; skipping build.\n",
      };
    case "distribution":
      return {
        setup: `${setup}Collecting ${name}==${random.int(9)}.${random.int(20)}\n`,
        setup_error:
          `ERROR: Could not find a version that satisfies the requirement ${name}>=${10 + random.int(9)}\n` +
          `ERROR: No matching distribution found for ${name}\n`,
      };
    case "configuration":
      return {
        error:
          "Configuration error:\nThere is a programmable error in your configuration file:\n\n" +
          `Traceback (most recent call last):\n  File "${checkout}/conf.py", line ${line}, in <module>\n` +
          `    import ${name}\nModuleNotFoundError: No module named '${name}'\n`,
      };
    case "warning":
      return {
        error: `Warning, treated as error:\n${checkout}/${name}.rst:${line}: WARNING: document isn't included in any toctree\n`,
      };
    case "latex":
      return {
        error:
          `! LaTeX Error: File \`${name}.sty' not found.\n\nl.${line} \\usepackage{${name}}\nEmergency stop.\n` +
          "latexmk: Errors, so I did not complete making targets\n",
      };
    case "timeout":
      return { error: `Command killed due to timeout: make html ran for more than 900 seconds\n` };
    case "inactivity":
      return { error: "This build was terminated due to inactivity.\n" };
    case "memory":
      return { error: "Command killed due to excessive memory consumption: exit 137\n" };
  }
}
