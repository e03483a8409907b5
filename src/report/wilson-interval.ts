const Z_SQUARED = 3.8416;

/**
 * The 95 % Wilson interval of a share, as every rate of schema `report` has one; null where nothing was
 * counted. Used for sums over rows, because the intervals of rows cannot be added.
 */
export function wilsonInterval(succeeded: number, finished: number): { low: number; high: number } | null {
  if (finished === 0) return null;
  const share = succeeded / finished;
  const centre = share + Z_SQUARED / (2 * finished);
  const reach = Math.sqrt(Z_SQUARED * ((share * (1 - share)) / finished + Z_SQUARED / (4 * finished ** 2)));
  const scale = 1 + Z_SQUARED / finished;
  return { low: Math.max(0, (centre - reach) / scale), high: Math.min(1, (centre + reach) / scale) };
}
