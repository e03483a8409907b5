/** Scrapes workers as Prometheus does, and keeps the samples with their virtual times. */
import { appendFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { labelSamples } from "../../test/support/alert-firings.ts";
import type { WorkerPlace } from "./workers.ts";

/** In virtual time. Rules look back a quarter of an hour. */
const EVERY_MS = 300_000;

export interface Recorder {
  /** The memory that each worker used, in MB, in the order of time. Restarts begin a new list. */
  readonly resident: Map<string, number[][]>;
  stop(): Promise<void>;
}

/** Writes lines of `name{labels} value seconds` into a file, of the metrics in `names` alone. */
export function startRecorder(
  places: readonly WorkerPlace[],
  { path, names, now, speed }: { path: string; names: ReadonlySet<string>; now: () => number; speed: number },
): Recorder {
  const resident = new Map<string, number[][]>();
  const stopped = new AbortController();

  async function scrape({ name, port }: WorkerPlace): Promise<string[]> {
    const seconds = Math.floor(now() / 1000);
    const labels = `job="docmirror",instance="${name}"`;
    try {
      const reply = await fetch(`http://127.0.0.1:${port}/metrics`, { signal: AbortSignal.timeout(2000) });
      const text = await reply.text();
      const memory = /^process_resident_memory_bytes (.*)$/m.exec(text)?.[1];
      if (memory) lastOf(name).push(Number(memory) / 1e6);
      return [`up{${labels}} 1 ${seconds}`, ...labelSamples(text, { names, labels, second: seconds })];
    } catch {
      resident.set(name, [...(resident.get(name) ?? []), []]);
      return [`up{${labels}} 0 ${seconds}`];
    }
  }

  function lastOf(name: string): number[] {
    const lists = resident.get(name) ?? [[]];
    resident.set(name, lists);
    return lists.at(-1) ?? [];
  }

  async function record(): Promise<void> {
    while (!stopped.signal.aborted) {
      const lines = (await Promise.all(places.map(scrape))).flat();
      await appendFile(path, `${lines.join("\n")}\n`);
      await delay(EVERY_MS / speed, undefined, { signal: stopped.signal }).catch(() => {});
    }
  }

  const recording = record();
  return {
    resident,
    async stop() {
      stopped.abort();
      await recording;
    },
  };
}
