/** Growth below this is noise: caches fill, code is compiled. */
const NOISE_MB = 8;
const NOISE_SHARE = 0.2;
/** The first runs load code and fill caches. */
const WARM_UP = 3;

export interface MemoryCourse {
  /** Medians of the first, the middle and the last third. */
  startMb: number;
  middleMb: number;
  endMb: number;
  /** Of the straight line through all figures, in MB a run. */
  slopeMb: number;
  hasGrown: boolean;
}

/** Judges what was alive after each run. It has grown when the last third lies well above the first one. */
export function judgeMemory(samples: readonly number[]): MemoryCourse {
  const after = samples.slice(Math.min(WARM_UP, Math.max(0, samples.length - 3)));
  const third = Math.max(1, Math.floor(after.length / 3));
  const startMb = median(after.slice(0, third));
  const endMb = median(after.slice(-third));
  return {
    startMb,
    middleMb: median(after.slice(third, -third)),
    endMb,
    slopeMb: slope(after),
    hasGrown: endMb - startMb > Math.max(NOISE_MB, startMb * NOISE_SHARE),
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Least squares over the places of the values. */
function slope(values: readonly number[]): number {
  const middle = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let together = 0;
  let apart = 0;
  for (const [place, value] of values.entries()) {
    together += (place - middle) * (value - mean);
    apart += (place - middle) ** 2;
  }
  return apart === 0 ? 0 : together / apart;
}
