/** What goes wrong in the month, and which alerts and notices must come of it. */
import { setTimeout as delay } from "node:timers/promises";
import type { Receiver } from "./receiver.ts";
import type { Service } from "./service.ts";
import type { Timeline } from "./timeline.ts";
import type { Workers } from "./workers.ts";

export interface Stage {
  timeline: Timeline;
  workers: Workers;
  service: Service;
  receiver: Receiver;
  /** The name of the worker that leads. Waits until one does. */
  leader(): Promise<string>;
  /** Ends every session of the mirror, as a restart of Postgres does. */
  cutDatabase(): Promise<void>;
}

interface Trouble {
  day: number;
  /** Of the day, in UTC. The nights are due at 2:17. */
  hour: number;
  what: string;
  happen(stage: Stage): Promise<void>;
}

/** Alerts that must fire, from a day to a day. Any other one is a false alarm. */
export const EXPECTED_ALERTS: readonly { alert: string; from: number; to: number }[] = [
  { alert: "DocmirrorInstanceDown", from: 2, to: 3 },
  { alert: "DocmirrorInstanceDown", from: 4, to: 5 },
  { alert: "DocmirrorDown", from: 8, to: 9 },
  { alert: "DocmirrorInstanceDown", from: 8, to: 9 },
  { alert: "DocmirrorListStale", from: 12, to: 15 },
  { alert: "DocmirrorSyncFailing", from: 12, to: 15 },
  { alert: "DocmirrorContractChanged", from: 16, to: 18 },
  { alert: "DocmirrorDown", from: 20, to: 21 },
  { alert: "DocmirrorInstanceDown", from: 20, to: 21 },
  { alert: "DocmirrorListStale", from: 20, to: 21 },
  { alert: "DocmirrorQuarantineGrowing", from: 22, to: 25 },
  // A list with a record that cannot be stored is not read well.
  { alert: "DocmirrorListStale", from: 22, to: 25 },
  { alert: "DocmirrorInstanceDown", from: 26, to: 27 },
];

/** Alerts that may fire: they follow from a trouble, but depend on chance. */
export const POSSIBLE_ALERTS: readonly { alert: string; from: number; to: number }[] = [
  { alert: "DocmirrorInstanceDown", from: 6, to: 7 },
  { alert: "DocmirrorNoticesNotDelivered", from: 9, to: 12 },
  { alert: "DocmirrorWatchFailing", from: 12, to: 15 },
  { alert: "DocmirrorBuildsStuck", from: 0, to: 2 },
  // A figure is kept for three real seconds, which are 48 virtual minutes: the alert may not see that a night repaired a difference
  // before the service deleted the next build.
  { alert: "DocmirrorDeficit", from: 0, to: 31 },
  // A reading that takes two real seconds, as on a busy machine, is half a virtual hour without an answer.
  { alert: "DocmirrorDatabaseDown", from: 0, to: 31 },
];

/** Notices that must come at least once, from a day to a day. */
export const EXPECTED_NOTICES: readonly { type: string; from: number; to: number }[] = [
  { type: "run.ended", from: 3, to: 6 },
  { type: "run.ended", from: 12, to: 15 },
  { type: "list.stale", from: 12, to: 15 },
  { type: "schema.changed", from: 16, to: 18 },
  { type: "project.broke", from: 1, to: 30 },
  { type: "project.recovered", from: 1, to: 30 },
];

/** Nights at which the service is away from the due time until the last retry: their syncs must fail. */
export const LOST_NIGHTS: readonly number[] = [12, 13];

const ONE = "a";
const OTHER = "b";

export const TROUBLES: readonly Trouble[] = [
  {
    day: 2,
    hour: 12,
    what: "the leader is killed by day",
    async happen({ workers, timeline, leader }) {
      const name = await leader();
      workers.signal(name, "SIGKILL");
      await timeline.until(timeline.at(2, 16));
      workers.start(name);
    },
  },
  {
    day: 4,
    hour: 2.4,
    what: "the leader is killed in the night's sync",
    async happen({ workers, timeline, leader, service }) {
      service.isSlow = true;
      await timeline.until(timeline.at(4, 2.8));
      const name = await leader();
      workers.signal(name, "SIGKILL");
      service.isSlow = false;
      await timeline.until(timeline.at(4, 8));
      workers.start(name);
    },
  },
  {
    day: 6,
    hour: 12,
    what: "the leader freezes, and wakes long after",
    async happen({ workers, leader }) {
      const name = await leader();
      workers.signal(name, "SIGSTOP");
      // Real time: the lease is by the clock of Postgres.
      await delay(50_000);
      workers.signal(name, "SIGCONT");
    },
  },
  {
    day: 8,
    hour: 14,
    what: "both are stopped for an upgrade",
    async happen({ workers, timeline }) {
      for (const name of [ONE, OTHER]) workers.signal(name, "SIGTERM");
      await Promise.all([workers.ended(ONE), workers.ended(OTHER)]);
      await timeline.until(timeline.at(8, 20));
      for (const name of [ONE, OTHER]) workers.start(name);
    },
  },
  {
    day: 9,
    hour: 20,
    what: "the receiver of notices is away",
    async happen({ receiver, timeline }) {
      receiver.isAway = true;
      await timeline.until(timeline.at(10, 20));
      receiver.isAway = false;
    },
  },
  {
    day: 12,
    hour: 1,
    what: "the service is away",
    async happen({ service, timeline }) {
      service.isAway = true;
      await timeline.until(timeline.at(13, 20));
      service.isAway = false;
    },
  },
  {
    day: 16,
    hour: 1,
    what: "the service sends a field more",
    async happen({ service }) {
      service.hasNewField = true;
    },
  },
  {
    day: 18,
    hour: 2.4,
    what: "Postgres restarts in the night's sync",
    async happen({ cutDatabase }) {
      await cutDatabase();
    },
  },
  {
    day: 20,
    hour: 1,
    what: "both are killed before a night, and started after it",
    async happen({ workers, timeline }) {
      for (const name of [ONE, OTHER]) workers.signal(name, "SIGKILL");
      await timeline.until(timeline.at(20, 9));
      for (const name of [ONE, OTHER]) workers.start(name);
    },
  },
  {
    day: 22,
    hour: 1,
    what: "a user cannot be stored for two days",
    async happen({ service, timeline }) {
      service.hasBadRecord = true;
      await timeline.until(timeline.at(24, 1));
      service.hasBadRecord = false;
    },
  },
  {
    day: 26,
    hour: 12,
    what: "the standby is killed",
    async happen({ workers, timeline, leader }) {
      const name = (await leader()) === ONE ? OTHER : ONE;
      workers.signal(name, "SIGKILL");
      await timeline.until(timeline.at(26, 18));
      workers.start(name);
    },
  },
];
