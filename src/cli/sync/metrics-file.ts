import { access, chmod, constants, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { ConfigError, messageOf } from "../../base/errors.ts";
import type { CommandContext } from "../context/run-command.ts";

/** How long the end of a run waits for the figures. */
const WITHIN_MS = 5000;
/** The agent that reads the file runs as another user as a rule. */
const MODE = 0o644;

/** Does the work of a run on a database, and writes the file when it has ended, in whatever way. */
export type Measured = <T>(databaseUrl: string, work: () => Promise<T>) => Promise<T>;

export const METRICS_FILE_OPTION = [
  "--metrics-file <path>",
  "write the metrics of the mirror to this file at the end, for node_exporter's textfile collector",
] as const;

/**
 * Writes the metrics of the mirror to a file after a run. The file holds what the database says then, of all runs, so
 * that all commands of a mirror can share one file. When no database could be opened it says just that. A file that
 * cannot be written is logged, and the run's result stays. Throws ConfigError before the run when the folder cannot be
 * used. Without a path `use` runs alone.
 */
export async function withMetricsFile<T>(
  context: CommandContext,
  path: string | undefined,
  use: (measured: Measured) => Promise<T>,
): Promise<T> {
  if (path === undefined) return use((_url, work) => work());
  const file = resolve(path);
  await assertWritable(file);
  const describeMirror = await createDescriber(context);
  let isWritten = false;
  const write = async (databaseUrl: string | null) => {
    isWritten = true;
    try {
      await replaceFile(file, await describeMirror(databaseUrl));
    } catch (error) {
      context.log.error({ file, error: messageOf(error) }, "could not write the metrics file");
    }
  };
  try {
    return await use(async (databaseUrl, work) => {
      try {
        return await work();
      } finally {
        await write(databaseUrl);
      }
    });
  } finally {
    if (!isWritten) await write(null);
  }
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

/**
 * Gives the same text as `/metrics`, without what only a process that stays up can tell. What it needs is loaded before the
 * run, because an upgrade may replace the program's files meanwhile; runs without a metrics file do not wait for it.
 */
async function createDescriber({ config, clock, log }: CommandContext) {
  const { createFigureRegistry } = await import("../../base/metrics/figures.ts");
  const { createBuildInfoRegistry } = await import("../../base/metrics/meters.ts");
  const { createReadFigures } = await import("../../report/status/read-figures.ts");
  const { createBoundedReader } = await import("../../serve/http/served-mirror.ts");
  const program = createBuildInfoRegistry();
  return async (databaseUrl: string | null): Promise<string> => {
    const mirror = { url: () => databaseUrl, reopen() {} };
    const reader = createBoundedReader({ mirror, withinMs: WITHIN_MS, clock });
    const readFigures = createReadFigures({
      read: reader.read,
      options: { ...config, isWorker: false },
      log,
    });
    try {
      const { isUp, figures } = databaseUrl === null ? { isUp: false, figures: null } : await readFigures();
      const texts = await Promise.all([createFigureRegistry(isUp, figures).metrics(), program.metrics()]);
      return texts.join("\n");
    } finally {
      await reader.close();
    }
  };
}

/** The collector may read at any moment: it must find the old file or the new one, and never a part. */
async function replaceFile(file: string, text: string): Promise<void> {
  // The collector reads only names that end in .prom.
  const draft = `${file}.${process.pid}.tmp`;
  try {
    await rm(draft, { force: true });
    // Others may write to the folder: a link that they put there is not followed.
    await writeFile(draft, text, { flag: "wx" });
    await chmod(draft, MODE);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
