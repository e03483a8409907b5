import { execFile } from "node:child_process";
import type { Watchdog } from "../../base/config/environment.ts";
import { messageOf } from "../../base/errors.ts";
import type { Logger } from "../../base/log.ts";

/** One message may be late. */
const MESSAGES_WITHIN = 3;

/**
 * Tells systemd, as long as it is not stopped, that the loop of this process turns. A loop that stands still tells nothing, and systemd
 * starts the process anew. Node has no datagrams for unix sockets, and the packages that have them are native code, so the program that
 * comes with systemd sends them.
 */
export function startWatchdog({ withinMs, env }: Watchdog, log: Logger): { stop(): void } {
  let isTold = false;

  function tell(): void {
    execFile("systemd-notify", ["WATCHDOG=1"], { env, timeout: withinMs }, (error) => {
      if (error !== null && !isTold)
        log.error(
          { error: messageOf(error), hint: "install systemd-notify, or remove WatchdogSec from the unit" },
          "could not tell systemd that this process lives",
        );
      isTold = error !== null;
    });
  }

  tell();
  const timer = setInterval(tell, withinMs / MESSAGES_WITHIN);
  return { stop: () => clearInterval(timer) };
}
