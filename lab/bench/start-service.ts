import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ServiceOptions } from "./service.ts";

/** The simulated service in a process of its own (`service.ts`). */
export interface Service {
  url: string;
  ask(message: object): Promise<unknown>;
  stop(): void;
}

export async function startService(options: ServiceOptions): Promise<Service> {
  const script = fileURLToPath(new URL("service.ts", import.meta.url));
  const child: ChildProcess = fork(script, [JSON.stringify(options)], { execArgv: ["--import", "tsx"] });
  const [ready] = (await once(child, "message")) as [{ url: string }];
  return {
    url: ready.url,
    async ask(message) {
      child.send(message);
      return (await once(child, "message"))[0];
    },
    stop: () => child.disconnect(),
  };
}
