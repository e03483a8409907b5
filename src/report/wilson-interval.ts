const Z_SQUARED = 3.8416;

/**
 * The 95 % Wilson interval of a share; null where nothing was counted. It is that of `report.success_rate`, which every rate of the
 * schema has from there. A page adds up rows for spans that a reader chooses, and intervals cannot be added, so it computes them
 * here. A test compares the two.
 */
export function wilsonInterval(succeeded: number, finished: number): { low: number; high: number } | null {
  if (finished === 0) return null;
  const share = succeeded / finished;
  const centre = share + Z_SQUARED / (2 * finished);
  const reach = Math.sqrt(Z_SQUARED * ((share * (1 - share)) / finished + Z_SQUARED / (4 * finished ** 2)));
  const scale = 1 + Z_SQUARED / finished;
  return { low: Math.max(0, (centre - reach) / scale), high: Math.min(1, (centre + reach) / scale) };
}
