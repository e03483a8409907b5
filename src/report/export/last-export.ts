import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject } from "../../resources/parse-json.ts";
import type { PartFile } from "./part-files.ts";
import { MARKER } from "./staging-folder.ts";

/** How the files are laid out and named. Layout 1 was not named in its manifest; up to 2 facts had names. */
export const LAYOUT = 3;

/** All on which the rows of a file depend besides the facts. A file of another form is not kept. */
export interface ExportForm {
  /** `LAYOUT` of the docmirror that made it. */
  layout: number;
  format: string;
  since: string | null;
  until: string | null;
  /** Of docmirror. */
  version: string;
  /** A hash of the view that the facts are read from. */
  definition: string;
}

/** The files of the facts of an export. */
export interface KeptFiles {
  folder: string;
  /** The file of a path, where it is still as the manifest says. */
  find(path: string): Promise<PartFile | null>;
}

/** Or why no file of it can be kept. */
export type LastExport = KeptFiles | { reason: string };

/** What an incremental export reads of a manifest. */
interface Manifest {
  form: ExportForm;
  files: PartFile[];
}

const DIFFERENT: Record<keyof ExportForm, string> = {
  layout: "its files have another layout",
  format: "it has another format",
  since: "it has another --since",
  until: "it has another --until",
  version: "another version of docmirror made it",
  definition: "the columns of fact_builds have changed",
};

/** Reads the manifest of the export in `folder`. What cannot be trusted gives a reason, never an error. */
export async function readLastExport(folder: string, form: ExportForm): Promise<LastExport> {
  const text = await readFile(join(folder, MARKER), "utf8").catch(() => null);
  if (text === null) return { reason: "there is none" };
  const manifest = parseManifest(text);
  if (manifest === null) return { reason: `its ${MARKER} is not one of this version` };
  const names = Object.keys(DIFFERENT) as (keyof ExportForm)[];
  const different = names.find((name) => manifest.form[name] !== form[name]);
  if (different !== undefined) return { reason: DIFFERENT[different] };
  const files = new Map(manifest.files.map((file) => [file.path, file]));
  return {
    folder,
    async find(path) {
      const file = files.get(path);
      if (file === undefined) return null;
      const found = await stat(join(folder, path)).catch(() => null);
      return found?.isFile() && found.size === file.bytes ? file : null;
    },
  };
}

/** Anybody may have edited the text. Null where it is no such manifest. */
function parseManifest(text: string): Manifest | null {
  const manifest = parseObject(text);
  const { layout = 1, format, since, until, version, definition } = manifest;
  if (!Number.isSafeInteger(layout) || ![format, version, definition].every(isText)) return null;
  if (![since, until].every((bound) => bound === null || isText(bound))) return null;
  const facts = isJsonObject(manifest.relations) ? manifest.relations.fact_builds : undefined;
  const files = isJsonObject(facts) && Array.isArray(facts.files) ? facts.files.map(parseFile) : [null];
  if (!files.every((file) => file !== null)) return null;
  return { form: { layout, format, since, until, version, definition } as ExportForm, files };
}

function parseFile(file: unknown): PartFile | null {
  if (!isJsonObject(file)) return null;
  const { path, rows, bytes, revision } = file;
  const isFile = [path, revision].every(isText) && [rows, bytes].every(isCount);
  return isFile ? ({ path, rows, bytes, revision } as PartFile) : null;
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : {};
  } catch {
    return {};
  }
}

const isText = (value: unknown): boolean => typeof value === "string";
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
