import { randomBytes } from "node:crypto";
import { access, chmod, constants, readlink, realpath, rename, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { ConfigError, messageOf } from "../../base/errors.ts";
import type { CommandContext } from "../context/run-command.ts";

/** The end of a run waits no longer for the figures. */
const FIGURES_WITHIN_MS = 5000;
/** The agent that reads the file runs as another user as a rule. */
const MODE = 0o644;

export const METRICS_FILE_OPTION = [
  "--metrics-file <path>",
  "write the metrics of the mirror to this file at the end, for node_exporter's textfile collector",
] as const;

/** The metrics of the mirror in a file. It holds what the database says, of all runs, so all commands of a mirror can share one file. */
export interface MetricsFile {
  /**
   * Writes it; null where no database could be opened, which is then all that it says. The first call alone counts. A file that cannot be
   * written is logged, and the run's result stays.
   */
  write(databaseUrl: string | null): Promise<void>;
}

/**
 * Throws ConfigError where the folder cannot be used. What a write needs is loaded here, before the run, because an upgrade may replace
 * the program's files meanwhile; runs without a metrics file do not wait for it.
 */
export async function openMetricsFile(context: CommandContext, path: string): Promise<MetricsFile> {
  // A link stays; the file that it points to is replaced.
  const linked = async () => resolve(dirname(path), await readlink(path).catch(() => basename(path)));
  const file = await realpath(path).catch(linked);
  await assertWritable(file);
  const describeMirror = await createDescriber(context);
  let isWritten = false;
  return {
    async write(databaseUrl) {
      if (isWritten) return;
      isWritten = true;
      try {
        await replaceFile(file, await describeMirror(databaseUrl));
      } catch (error) {
        context.log.error({ file, error: messageOf(error) }, "could not write the metrics file");
      }
    },
  };
}

async function assertWritable(file: string): Promise<void> {
  const folder = dirname(file);
  const refuse = (why: string) =>
    new ConfigError(`could not write the metrics file ${file}: ${why}`, {
      hint: "--metrics-file takes the path of a file in a folder that is there and that docmirror may write to",
    });
  const facts = await stat(folder).catch(() => null);
  if (facts?.isDirectory() !== true) throw refuse("its folder is not there");
  if ((await stat(file).catch(() => null))?.isDirectory() === true) throw refuse("it is a folder");
  await access(folder, constants.W_OK).catch(() => {
    throw refuse("its folder may not be written to");
  });
}

/** Gives the same text as `/metrics`, without what only a process that stays up can say. */
async function createDescriber({ config, clock, log }: CommandContext) {
  const { createBuildInfoRegistry } = await import("../../base/metrics/meters.ts");
  const { createFigureRegistry, createReadFigures } = await import("../../report/status/read-figures.ts");
  const { createBoundedReader } = await import("../../serve/http/served-mirror.ts");
  const program = createBuildInfoRegistry();
  return async (databaseUrl: string | null): Promise<string> => {
    const mirror = { url: () => databaseUrl, reopen() {} };
    const { read, close } = createBoundedReader(mirror, FIGURES_WITHIN_MS, clock);
    const readFigures = createReadFigures(read, { ...config, isWorker: false }, log);
    try {
      const figures = databaseUrl === null ? createFigureRegistry(false, null) : await readFigures();
      return `${await figures.metrics()}\n${await program.metrics()}`;
    } finally {
      await close();
    }
  };
}

/** The collector may read at any moment: it must find the old file or the new one, and never a part. */
async function replaceFile(file: string, text: string): Promise<void> {
  // The collector reads only names that end in .prom.
  const draft = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    // Others may write to the folder: a link that they put there is not followed.
    await writeFile(draft, text, { flag: "wx" });
    await chmod(draft, MODE);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
