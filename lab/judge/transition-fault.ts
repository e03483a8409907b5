/** What the world had that its rows must tell. */
export interface Oddities {
  /** Local dates that begin so lie in an hour that summer time repeats. @default none does */
  repeatedHour?: string;
  /** Whether the service's clock is so far ahead that bounds are named for it. @default false */
  isClockAhead?: boolean;
}

/** A row of `mirror.build_transitions`. Times are in whole microseconds, as Postgres keeps them, so that equal ones are equal. */
export interface TransitionRow {
  id: string;
  seq: number;
  from: string | null;
  to: string;
  after: number | null;
  before: number;
  anomaly: string | null;
  date: string;
}

/** What is true of a build, in whole microseconds; Infinity for what never was. */
export interface TrueLife {
  /** When each state was entered. */
  states: Map<string, number>;
  createdAt: number;
  /** When it was deleted. */
  endedAt: number;
}

/** What is wrong with a row, or null. `earlier` are the states that the build's rows before it told of. */
export function faultOf(
  row: TransitionRow,
  earlier: readonly string[],
  life: TrueLife | undefined,
  { repeatedHour, isClockAhead = false }: Oddities,
): string | null {
  if (!life) return "there never was such a build";
  const { states, endedAt } = life;
  const trulyAt = row.to === "vanished" ? endedAt : (states.get(row.to) ?? Infinity);
  if (trulyAt === Infinity) return "the build never was in this state";
  const previous = earlier.at(-1) ?? null;
  if (row.from !== previous || row.seq !== earlier.length + 1) return `the row before it is of ${previous}`;
  if (previous !== null && (previous === "vanished" || (states.get(previous) ?? Infinity) >= trulyAt))
    return `that was not after ${previous}`;
  if (row.after !== null && row.after > trulyAt)
    return `entered ${(row.after - trulyAt) / 1000} ms before its bounds`;
  if (row.before < trulyAt) return `entered ${(trulyAt - row.before) / 1000} ms after its bounds`;
  const isRepeated = repeatedHour !== undefined && previous === null && row.date.startsWith(repeatedHour);
  const wanted = [
    ...(isRepeated ? ["repeated_hour"] : []),
    ...(isClockAhead && previous === null ? ["clock"] : []),
  ];
  if ((row.anomaly ?? "") !== wanted.join(", "))
    return `anomaly '${row.anomaly}' instead of '${wanted.join(", ")}'`;
  if (row.after === null) return "nothing is claimed of when it was entered";
  return null;
}
