import { randomUUID } from "node:crypto";
import { Option } from "commander";
import { duration } from "../base/config/setting.ts";
import { ConfigError, EXIT, TRUST_AUTHORITY, UpstreamError } from "../base/errors.ts";
import { toSecond } from "../base/text.ts";
import { notify } from "../notify/notify.ts";
import { listNotices, type Outbox, retryNotices } from "../notify/outbox.ts";
import { createReceiver, type ReceiverAnswer } from "../notify/receiver.ts";
import { type Webhook, webhookOf } from "../notify/webhook.ts";
import { assertNamesKnown } from "../report/known-names.ts";
import {
  listMutedProjects,
  type MutedProject,
  muteProject,
  unmuteProject,
} from "../store/ledger/muted-projects.ts";
import type { CommandContext } from "./context/run-command.ts";
import { withMirror } from "./context/with-mirror.ts";
import { renderTable } from "./output/table.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy } from "./usage/flag-values.ts";

interface Options {
  test?: true;
  retry?: true;
  mute?: string;
  unmute?: string;
  for?: number;
}

/** The notices that are listed at most, of those that wait and of those that ended. */
const LISTED = 20;
const BEGIN_WITHIN_MS = 40_000;

export const command: CommandDeclaration<Options> = {
  settings: ["database", "notices"],
  exits: ["upstream", "unprinted"],
  examples: [
    ["notify", "what waits, and what was delivered or given up last"],
    ["notify --test", "sends a test notice at once, and says what came back"],
    ["notify --retry", "sends what waits and what was given up, at once"],
    ["notify --mute pip --for 2d", "notes nothing of this project for two days"],
  ],
  hasJson: true,
  flags: (command) =>
    command
      .option("--test", "send a test notice; exits 5 unless the receiver takes it")
      .addOption(
        new Option(
          "--retry",
          "send what waits and what was given up; exits 5 when some still wait",
        ).conflicts("test"),
      )
      .addOption(
        new Option("--mute <project>", "note no break and no fix of a project for a while").conflicts([
          "test",
          "retry",
          "unmute",
        ]),
      )
      .option("--for <duration>", "how long, with --mute; units m h d w, as in 2d", parsedBy(duration))
      .addOption(
        new Option("--unmute <project>", "note them again from now on").conflicts(["test", "retry", "for"]),
      ),
  run: (context, { options }) => {
    if (options.mute !== undefined || options.unmute !== undefined || options.for !== undefined)
      return changeMute(context, options);
    if (options.test) return sendTest(context, requireWebhook(context));
    if (options.retry) return retry(context, requireWebhook(context));
    return withMirror(context, async (sql, database) => {
      const outbox = await listNotices(sql, LISTED);
      const muted_projects = await listMutedProjects(sql);
      await context.print(
        { database: database.describe, ...outbox, muted_projects },
        () => render(outbox, context) + muted_projects.map(mutedLine).join(""),
      );
      return EXIT.done;
    });
  },
};

/** Mutes or unmutes a project that the mirror has. */
function changeMute(context: CommandContext, { mute, unmute, for: forMs }: Options): Promise<number> {
  if ((mute === undefined) !== (forMs === undefined))
    throw new ConfigError(mute === undefined ? "--for goes with --mute" : "--mute needs --for", {
      hint: "as in `docmirror notify --mute pip --for 2d`",
    });
  return withMirror(context, async (sql, database) => {
    const slug = mute ?? unmute ?? "";
    await assertNamesKnown(sql, { project: slug });
    if (mute !== undefined) await muteProject(sql, slug, forMs ?? 0);
    else if (!(await unmuteProject(sql, slug)))
      throw new ConfigError(`${slug} is not muted`, { hint: "`docmirror notify` lists what is" });
    const muted_projects = await listMutedProjects(sql);
    await context.printStored({ database: database.describe, muted_projects }, () => {
      if (mute === undefined) return `${slug} is no longer muted\n`;
      const muted = muted_projects.filter(({ project_slug }) => project_slug === slug);
      return muted.map(mutedLine).join("");
    });
    return EXIT.done;
  });
}

function mutedLine({ project_slug, until }: MutedProject): string {
  return `nothing is noted of ${project_slug} until ${toSecond(until)}\n`;
}

function requireWebhook({ config }: CommandContext): Webhook {
  const webhook = webhookOf(config);
  if (webhook) return webhook;
  throw new ConfigError("there is no webhook to send to", {
    hint: "set DOCMIRROR_WEBHOOK_URL, and DOCMIRROR_WEBHOOK_SECRET or DOCMIRROR_WEBHOOK_FORMAT; docs/notices.md says how",
  });
}

/** Needs no database, so that a webhook can be tried before anything else is set up. */
async function sendTest({ config, clock, signal, print }: CommandContext, webhook: Webhook) {
  const receiver = createReceiver({ ...webhook, proxies: config.proxies, clock });
  const { origin } = webhook.url;
  const id = `msg_${randomUUID().replaceAll("-", "")}`;
  const data = { summary: "This is a test notice of docmirror." };
  const from = performance.now();
  const message = { id, type: "test", timestamp: clock.now().toISOString(), data } as const;
  const answer = await receiver.send(message, signal).finally(() => receiver.close());
  const { status, error } = answer;
  const took = Math.round(performance.now() - from);
  const facts = {
    receiver: origin,
    message_id: id,
    delivered: error === null,
    status,
    error,
    duration_ms: took,
  };
  const taken = `${origin} took the test notice ${id}: ${status} in ${took} ms\n`;
  await print(facts, () => (error === null ? taken : ""));
  if (error === null) return EXIT.done;
  throw new UpstreamError(`the test notice was not delivered to ${origin}: ${error}`, {
    url: origin,
    hint: hintOf(answer),
  });
}

function hintOf({ status, error }: ReceiverAnswer): string {
  if (error?.includes("certificate")) return TRUST_AUTHORITY;
  if (status === null) return "check DOCMIRROR_WEBHOOK_URL, the network and that the receiver is up";
  if (status === 400 || status === 401 || status === 403)
    return "check that the receiver has the same secret, and that the clocks of both machines are right";
  return "check DOCMIRROR_WEBHOOK_URL, and read the receiver's log";
}

function retry(context: CommandContext, webhook: Webhook): Promise<number> {
  return withMirror(context, async (sql, database) => {
    const { config, clock, log, signal } = context;
    const again = await retryNotices(sql);
    const sent = { delivered: 0, failed: 0 };
    const what = { ...config, sql, webhook, beginWithinMs: BEGIN_WITHIN_MS };
    for (;;) {
      const round = await notify({ ...what, clock, log, signal });
      sent.delivered += round.delivered;
      sent.failed += round.failed;
      if (round.error !== null) log.warn({ error: round.error }, "could not deliver all notices");
      if (round.delivered === 0 || round.failed > 0) break;
    }
    const { waiting } = await listNotices(sql, 0);
    await context.printStored(
      { database: database.describe, tried_again: again, ...sent, waiting },
      () => `${sent.delivered} delivered, ${sent.failed} failed, ${waiting} still wait\n`,
    );
    return sent.failed === 0 && waiting === 0 ? EXIT.done : EXIT.upstream;
  });
}

function render(outbox: Outbox, { config, out }: CommandContext): string {
  const { waiting, delivered, given_up, notices } = outbox;
  const head = ["state", "noted", "tries", "next try or end", "notice", "error"];
  const rows = notices.map(({ state, noted_at, tries, next_try_at, ended_at, summary, error }) => {
    return [state, toSecond(noted_at), tries, toSecond(next_try_at ?? ended_at), summary, error];
  });
  const table = renderTable({ head, rows }, out);
  const { webhookUrl } = config;
  return (
    (notices.length > 0 ? `${table}\n` : "") +
    `${waiting} waiting, ${delivered} delivered and ${given_up} given up in the last 30 days\n` +
    (webhookUrl === null
      ? "nothing is noted or sent: DOCMIRROR_WEBHOOK_URL is not set here\n"
      : `sent to ${webhookUrl.origin}\n`) +
    (given_up > 0 ? "`docmirror notify --retry` sends those that were given up again\n" : "")
  );
}
