import type { Catalog } from "../serve/catalog.ts";
import type { Resource } from "../wire/resources.ts";
import type { WorldOptions, WorldSettings } from "./settings.ts";
import type { Truth } from "./truth.ts";

/** A service's whole content, with a clock that only moves when it is told to. */
export interface World {
  readonly settings: Readonly<WorldSettings>;
  now(): Date;
  /** Lets virtual milliseconds pass: everything that is due in them happens, in its order. */
  advance(ms: number): void;
  /** Like `advance`; a moment in the past does nothing. */
  advanceTo(moment: Date): void;
  /** Triggers builds at this very moment, at the head of the list; returns their ids, oldest first. */
  triggerBuilds(count: number): string[];
  /** Deletes a record now, with what depends on it; false when there is none. */
  deleteRecord(resource: Resource, id: string): boolean;
  truth(): Truth;
  catalog(): Catalog;
}

export function createWorld(_options: WorldOptions = {}): World {
  throw new Error("not built yet");
}
