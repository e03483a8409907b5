import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import type { PartFile } from "./part-files.ts";
import { MARKER } from "./staging-folder.ts";

/** How the files are laid out and named. Layout 1 was not named in its manifest. */
export const LAYOUT = 2;

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

/** What an incremental export reads of a manifest that anybody may have edited. */
const Manifest = z.object({
  layout: z.int().default(1),
  format: z.string(),
  since: z.string().nullable(),
  until: z.string().nullable(),
  version: z.string(),
  definition: z.string(),
  relations: z.object({
    fact_builds: z.object({
      files: z.array(
        z.object({
          path: z.string(),
          rows: z.int().nonnegative(),
          bytes: z.int().nonnegative(),
          revision: z.string(),
        }),
      ),
    }),
  }),
});

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
  const manifest = parse(text);
  if (manifest === null) return { reason: `its ${MARKER} is not one of this version` };
  const names = Object.keys(DIFFERENT) as (keyof ExportForm)[];
  const different = names.find((name) => manifest[name] !== form[name]);
  if (different !== undefined) return { reason: DIFFERENT[different] };
  const files = new Map(manifest.relations.fact_builds.files.map((file) => [file.path, file]));
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

function parse(text: string): z.infer<typeof Manifest> | null {
  try {
    return Manifest.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
