/** Scrapes workers as Prometheus does, and keeps the samples with their virtual times. */
import { appendFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
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
      const lines = (await reply.text()).split("\n");
      const samples = lines.filter((line) => names.has(/^[a-zA-Z_:]+/.exec(line)?.[0] ?? ""));
      const memory = lines.find((line) => line.startsWith("process_resident_memory_bytes"));
      if (memory) lastOf(name).push(Number(memory.split(" ").at(-1)) / 1e6);
      return [
        `up{${labels}} 1 ${seconds}`,
        ...samples.map((line) => `${withLabels(line, labels)} ${seconds}`),
      ];
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

function withLabels(line: string, labels: string): string {
  const [, name = "", own, rest = ""] = /^([a-zA-Z_:]+)(?:\{(.*)\})?( .*)$/.exec(line) ?? [];
  return `${name}{${labels}${own ? `,${own}` : ""}}${rest}`;
}
