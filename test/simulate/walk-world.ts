import type { RecordTypes, Resource } from "../../src/resources/resources.ts";
import type { World } from "../support/simulation.ts";

/** A whole list of a world that stands still, slice by slice. */
export async function walkList<R extends Resource>(
  world: World,
  resource: R,
  limit = 100,
): Promise<RecordTypes[R][]> {
  const all: RecordTypes[R][] = [];
  for (let offset = 0; ; offset += limit) {
    const { records, totalCount } = await world.catalog().list(resource, { filters: [], offset, limit });
    all.push(...records);
    if (offset + limit >= totalCount) return all;
  }
}

export function trueRecords<R extends Resource>(world: World, resource: R): RecordTypes[R][] {
  return [...world.truth().records(resource)].filter(({ listed }) => listed).map(({ record }) => record);
}
