/** The values at which the axis may have a label, in seconds. Each is about three times the one before. */
const TICKS = [1, 3, 10, 30, 60, 180, 600, 1800, 3600, 10_800, 36_000, 86_400, 259_200, 864_000, 2_592_000];
const FEW_TICKS = [1, 10, 60, 600, 3600, 36_000, 86_400, 864_000];
/** More labels would overlap. */
const MOST_TICKS = 8;

const WORDS = [
  "datum.value < 60 ? datum.value + ' s'",
  "datum.value < 3600 ? datum.value / 60 + ' min'",
  "datum.value < 86400 ? datum.value / 3600 + ' h'",
  "datum.value / 86400 + ' d'",
].join(" : ");

/**
 * A logarithmic axis of seconds for values of 0 or more. It begins at a round value below them all, at one
 * second at the least, and ends at a round value above them.
 */
export function createDurationAxis(values: readonly number[]) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const foot = TICKS.findLast((tick) => tick <= least) ?? 1;
  const top = TICKS.find((tick) => tick >= most && tick > foot) ?? Math.max(most, foot * 3);
  const within = (ticks: readonly number[]) => ticks.filter((tick) => tick >= foot && tick <= top);
  const ticks = within(TICKS);
  return {
    /** Smaller values are drawn at this value. */
    foot,
    encoding: {
      scale: { type: "log" as const, domain: [foot, top], nice: false },
      axis: {
        title: null,
        values: ticks.length <= MOST_TICKS ? ticks : within(FEW_TICKS),
        labelExpr: WORDS,
        labelOverlap: false,
      },
    },
  };
}
