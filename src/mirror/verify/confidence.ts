const DOUBT = 0.05;

/**
 * The exact upper bound of a share after `found` of `checked` (Clopper–Pearson, one-sided): where the share is larger, so few
 * are found in at most 5 % of all samples. 1 where nothing was checked.
 */
export function upperBound(found: number, checked: number): number {
  if (found >= checked) return 1;
  let [low, high] = [found / checked, 1];
  for (let step = 0; step < 60; step++) {
    const share = (low + high) / 2;
    if (chanceOfAtMost(found, checked, share) > DOUBT) low = share;
    else high = share;
  }
  return high;
}

/** That at most so many of `tries` hit, where each does with the chance `share`. By logarithms: the terms are tiny. */
function chanceOfAtMost(most: number, tries: number, share: number): number {
  const odds = Math.log(share) - Math.log1p(-share);
  let term = tries * Math.log1p(-share);
  let sum = 0;
  for (let hits = 0; hits <= most; hits++) {
    sum += Math.exp(term);
    term += Math.log((tries - hits) / (hits + 1)) + odds;
  }
  return sum;
}
