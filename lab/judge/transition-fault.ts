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
  /** The times when it was hidden, in their order. @default it never was */
  away?: readonly { from: number; until: number }[];
}

/** What is wrong with a row, or null. `earlier` are the states that the build's rows before it told of. */
export function faultOf(
  row: TransitionRow,
  earlier: readonly string[],
  life: TrueLife | undefined,
  { repeatedHour, isClockAhead = false }: Oddities,
): string | null {
  if (!life) return "there never was such a build";
  const { states, endedAt, away = [] } = life;
  const previous = earlier.at(-1) ?? null;
  /** The last state that was seen, whether the build was away since or not. */
  const shown = earlier.findLast((state) => state !== "vanished");
  const isBack = previous === "vanished";
  const wentAt = [...away.map(({ from }) => from), endedAt].findLast((at) => at <= row.before) ?? endedAt;
  const cameBackAt = away.findLast(({ until }) => until <= row.before)?.until ?? Infinity;
  const enteredAt = isBack && row.to === shown ? cameBackAt : (states.get(row.to) ?? Infinity);
  const trulyAt = row.to === "vanished" ? wentAt : enteredAt;
  if (trulyAt === Infinity) return "the build never was in this state";
  if (row.from !== previous || row.seq !== earlier.length + 1) return `the row before it is of ${previous}`;
  if (isBack && cameBackAt === Infinity) return "it never came back";
  if (shown !== undefined && (states.get(shown) ?? Infinity) >= trulyAt) return `that was not after ${shown}`;
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
