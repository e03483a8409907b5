import { durationUpTo } from "../base/config/setting.ts";
import { requireBaseUrl } from "../base/config.ts";
import { EXIT } from "../base/errors.ts";
import { grouped, printable } from "../base/text.ts";
import { FAULT_KINDS, type FaultKind, type KindCounts, upperBound } from "../mirror/verify/confidence.ts";
import type { Look } from "../mirror/verify/looks.ts";
import { repairWrong } from "../mirror/verify/repair.ts";
import { verifyMirror } from "../mirror/verify/verify.ts";
import { tryRefresh } from "../report/refresh/refresh.ts";
import { RESOURCES, type Resource } from "../resources/resources.ts";
import { findRecord } from "../serve/catalog/mirror-catalog.ts";
import type { CheckedList } from "../store/ledger/checks.ts";
import { withMirror } from "./context/with-mirror.ts";
import type { CommandDeclaration } from "./usage/create-command.ts";
import { parsedBy, RESOURCES_OPTION, wholeFrom } from "./usage/flag-values.ts";

const UNSEEN = "records that no list of the service shows, and that are not here";

export const command: CommandDeclaration<{
  sample: number;
  resource?: Resource[];
  wait: number;
  repair?: boolean;
}> = {
  settings: ["requests", "database", "sourceTimezone", "replicaLagMs"],
  exits: ["partial", "unprinted"],
  examples: [
    ["verify", "compares 300 random records with the service, and says how sure that makes"],
    ["verify --sample 1000 --resource build", "more of one list"],
    ["verify --repair", "stores again what is wrong here, and says what it did"],
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
      )
      .option("--repair", "store again what is wrong here, in a run of its own, and say what was done"),
  run: (
    context,
    { options: { sample, resource: resources = [...RESOURCES], wait: waitMs = 120_000, repair } },
  ) => {
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
      const { lists, found, kinds, requests, ...sum } = await verifyMirror(options);
      const all = measure(sum.all, kinds.all);
      const each = Object.entries(lists).map(([resource, list]) => ({
        resource,
        ...measure(list, kinds.lists[resource as Resource]),
      }));
      const repaired = repair ? await repairWrong(options, found) : [];
      if (repaired.length > 0) {
        // What was wrong is looked at once more, so that status and alerts know of it.
        await verifyMirror({ ...options, sample: 0, waitMs: 0 });
        await tryRefresh(connections.sql, { ...settings, signal: context.signal }, context.log);
      }
      const document = {
        database: database.describe,
        requests,
        ...all,
        unseen: UNSEEN,
        lists: each,
        found,
        ...(repair && { repaired }),
      };
      await context.printStored(document, () => {
        const sentences = each.map(({ resource, sentence }) => `${resource}: ${sentence}`);
        const done = repaired.map(({ resource, id, did }) => `repair: ${resource} ${id}: ${did}`);
        const lines = [
          ...found.flatMap(describe),
          ...done,
          ...sentences,
          all.sentence,
          `not seen: ${UNSEEN}`,
        ];
        return lines.map((line) => `${printable(line)}\n`).join("");
      });
      const left = all.wrong - repaired.filter(({ outcome }) => outcome !== "left").length;
      return left > 0 ? EXIT.partial : EXIT.done;
    });
  },
};

const describe = ({ resource, id, verdict, why, differences }: Look) => [
  `${verdict}: ${resource} ${id}: ${why}`,
  ...differences.map(
    (one) => `  ${one.field}: ${one.service ?? "absent"} there, ${one.mirror ?? "absent"} here`,
  ),
];

/** What the records of a kind of fault do, for a sentence. */
const DOES: Record<FaultKind, string> = {
  fields: "differ in a field",
  missing: "are missing here",
  extra: "are here and not there",
};

/**
 * With the largest share of each kind of fault that is likely, rounded up, and a sentence, such as "300 of 300 are equal; with 95 % confidence
 * fewer than 1.0 % of 68,500 records differ in a field, fewer than 2.0 % are missing here (Clopper–Pearson)". Each share holds by itself.
 */
function measure(list: CheckedList, kinds: KindCounts) {
  const { checked, equal, changed, unclear, denied = 0, records } = list;
  const others = [
    [checked - equal, "are wrong"],
    [changed, "changed since they were read"],
    [denied, "are in the service's list, and its details deny them"],
    [unclear, "could not be compared"],
  ] as const;
  const parts = others.flatMap(([count, what]) => (count > 0 ? [`, ${grouped(count)} ${what}`] : []));
  const drawn = checked + changed + denied + unclear;
  const found = `${grouped(equal)} of ${grouped(drawn)} are equal${parts.join("")}`;
  const undecided =
    changed + unclear > 0 ? `; ${grouped(checked)} of ${grouped(drawn)} could be decided` : "";
  const percentOf = ({ found, checked }: KindCounts[FaultKind]) =>
    Math.ceil(upperBound(found, checked) * 1000) / 10;
  const percents = {
    fields: percentOf(kinds.fields),
    missing: percentOf(kinds.missing),
    extra: percentOf(kinds.extra),
  };
  const claims = FAULT_KINDS.filter((kind) => percents[kind] < 100).map((kind, at) => {
    const many = at === 0 ? ` of ${grouped(records)} records` : "";
    return `fewer than ${percents[kind].toFixed(1)} %${many} ${DOES[kind]}`;
  });
  const sentence =
    claims.length > 0
      ? `with 95 % confidence ${claims.join(", ")} (Clopper–Pearson, each by itself)`
      : `that says nothing of all ${grouped(records)}`;
  return {
    ...list,
    differ_below_percent: percents.fields,
    missing_below_percent: percents.missing,
    extra_below_percent: percents.extra,
    sentence: `${found}${undecided}; ${sentence}`,
  };
}
