import { durationUpTo } from "../base/config/setting.ts";
import { requireBaseUrl } from "../base/config.ts";
import { EXIT } from "../base/errors.ts";
import { grouped, printable } from "../base/text.ts";
import { upperBound } from "../mirror/verify/confidence.ts";
import type { Look } from "../mirror/verify/looks.ts";
import { verifyMirror } from "../mirror/verify/verify.ts";
import { RESOURCES, type Resource } from "../resources/resources.ts";
import { findRecord } from "../serve/catalog/mirror-catalog.ts";
import type { CheckedList } from "../store/ledger/checks.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy, RESOURCES_OPTION, wholeFrom } from "./usage/flag-values.ts";

const UNSEEN = "records that no list of the service shows, and that are not here";

export const command: CommandDeclaration<{ sample: number; resource?: Resource[]; wait: number }> = {
  settings: ["requests", "database", "sourceTimezone", "replicaLagMs"],
  exits: ["partial", "unprinted"],
  examples: [
    ["verify", "compares 300 random records with the service, and says how sure that makes"],
    ["verify --sample 1000 --resource build", "more of one list"],
    ["verify --wait 26h --json", "looks again, after the next night, at what may have changed"],
  ],
  words: { "--resource": RESOURCES },
  hasJson: true,
  flags: (command) =>
    command
      .option("--sample <records>", "how many, one request each", wholeFrom(1, 100_000), 300)
      .option(...RESOURCES_OPTION)
      .option(
        "--wait <duration>",
        "look again after this time at what may have changed; 0s leaves that to the next check [default 2m]",
        parsedBy(durationUpTo(7 * 86_400_000)),
      ),
  run: (context, { options: { sample, resource: resources = [...RESOURCES], wait: waitMs = 120_000 } }) => {
    const baseUrl = requireBaseUrl(context.config);
    return withMirror(context, async (_sql, database, connections) => {
      const settings = { ...context.config, baseUrl };
      const options = {
        ...context,
        settings,
        connections,
        resources,
        sample,
        waitMs,
        findServed: findRecord,
      };
      const { lists, found, requests, ...sum } = await verifyMirror(options);
      const all = measure(sum.all);
      const each = Object.entries(lists).map(([resource, list]) => ({ resource, ...measure(list) }));
      const document = { database: database.describe, requests, ...all, unseen: UNSEEN, lists: each, found };
      await context.printStored(document, () => {
        const sentences = each.map(({ resource, sentence }) => `${resource}: ${sentence}`);
        const lines = [...found.flatMap(describe), ...sentences, all.sentence, `not seen: ${UNSEEN}`];
        return lines.map((line) => `${printable(line)}\n`).join("");
      });
      return all.wrong > 0 ? EXIT.partial : EXIT.done;
    });
  },
};

const describe = ({ resource, id, verdict, why, differences }: Look) => [
  `${verdict}: ${resource} ${id}: ${why}`,
  ...differences.map(
    (one) => `  ${one.field}: ${one.service ?? "absent"} there, ${one.mirror ?? "absent"} here`,
  ),
];

/**
 * With the largest share of records that is likely to differ, rounded up, and a sentence, such as "300 of 300 are equal; with
 * 95 % confidence fewer than 1.0 % of 68,500 records differ (Clopper–Pearson)".
 */
function measure(list: CheckedList) {
  const { checked, equal, changed, unclear, records } = list;
  const others = [
    [checked - equal, "are wrong"],
    [changed, "changed since they were read"],
    [unclear, "could not be compared"],
  ] as const;
  const parts = others.flatMap(([count, what]) => (count > 0 ? [`, ${grouped(count)} ${what}`] : []));
  const found = `${grouped(equal)} of ${grouped(checked + changed + unclear)} are equal${parts.join("")}`;
  const percent = Math.ceil(upperBound(checked - equal, checked) * 1000) / 10;
  const share = `fewer than ${percent.toFixed(1)} % of ${grouped(records)} records differ`;
  const claim = `with 95 % confidence ${share}${changed > 0 ? ", but for changes" : ""} (Clopper–Pearson)`;
  const sentence = `${found}; ${percent < 100 ? claim : `that says nothing of all ${grouped(records)}`}`;
  return { ...list, differ_below_percent: percent, sentence };
}
