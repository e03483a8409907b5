import { messageOf } from "../../base/errors.ts";
import { notify } from "../../notify/notify.ts";
import type { Webhook } from "../../notify/webhook.ts";
import type { CommandContext } from "../context/run-command.ts";

const WITHIN_MS = 30_000;
/** A try that has begun may last 15 s. */
const BEGIN_WITHIN_MS = 14_000;

/**
 * Notes and sends what is news after a run of a command that then exits. It takes 30 s at most. A failure is logged and
 * changes nothing else: the next run sends what is left.
 */
export async function notifyAfterRun(
  { config, clock, log, signal: stop }: CommandContext,
  webhook: Webhook | null,
  databaseUrl: string,
): Promise<void> {
  if (webhook === null || stop.aborted) return;
  const { staleAfterMs, proxies } = config;
  const signal = AbortSignal.any([stop, AbortSignal.timeout(WITHIN_MS)]);
  try {
    await notify({
      databaseUrl,
      webhook,
      staleAfterMs,
      proxies,
      beginWithinMs: BEGIN_WITHIN_MS,
      clock,
      log,
      signal,
    });
  } catch (error) {
    if (!stop.aborted)
      log.warn({ error: messageOf(error) }, "could not send all notices; the next run sends the rest");
  }
}
