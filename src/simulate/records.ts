import type { BuildRecord } from "../resources/build.ts";
import type { FileRecord } from "../resources/file.ts";
import type { ProjectRecord } from "../resources/project.ts";
import type { UserRecord } from "../resources/user.ts";
import type { VersionRecord } from "../resources/version.ts";
import { type BuildLives, stateAt } from "./build-life.ts";
import type { BuildStore } from "./build-store.ts";
import { buildTexts, NO_TEXTS } from "./build-texts.ts";
import type { LocalDates, Micros } from "./local-dates.ts";
import type { FileRow, Population, ProjectRow, UserRow, VersionRow } from "./population.ts";
import { createRandom, hash, STREAM } from "./random.ts";
import type { WorldSettings } from "./settings.ts";
import { capital, FIRST_NAMES, LAST_NAMES, ODD_TEXTS, sentence, word } from "./words.ts";

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

/** Turns rows into wire records. Their keys are sorted already, as the protocol sends them. */
export function createRecords(deps: {
  settings: WorldSettings;
  dates: LocalDates;
  population: Population;
  builds: BuildStore;
  lives: BuildLives;
}) {
  const { settings, dates, population, builds, lives } = deps;
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
    const finished = state === "finished";
    const texts = finished
      ? buildTexts(
          seed,
          row,
          life,
          {
            projectSlug: population.projects.find(projectId)?.slug ?? "unknown",
            versionSlug: (versionId !== null && population.versions.find(versionId)?.slug) || "latest",
          },
          settings,
        )
      : NO_TEXTS;
    const id = builds.idOf(row);
    return {
      date: dates.write(builds.date(row)),
      error: texts.error,
      id: String(id),
      output: texts.output,
      project: `${apiPath}/project/${projectId}/`,
      resource_uri: `${apiPath}/build/${id}/`,
      setup: texts.setup,
      setup_error: texts.setup_error,
      state,
      success: finished ? life.success : true,
      type: life.type,
      version: versionId === null ? null : `${apiPath}/version/${versionId}/`,
    };
  }

  return { user, project, version, file, build };
}

export type Records = ReturnType<typeof createRecords>;
