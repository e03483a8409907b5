const NUMBER = new Intl.NumberFormat("en");

/** 12,345; a dash where it is not known. */
export function count(value: number | null): string {
  return value === null ? "–" : NUMBER.format(value);
}

/** A share of 0 to 1 with one decimal: 98.7 %; a dash where there is none. */
export function percent(share: number | null): string {
  return share === null ? "–" : `${(share * 100).toFixed(1)} %`;
}

/** 45 s, 12.5 min, 3.2 h or 4.1 days. */
export function seconds(value: number): string {
  const [size, unit] =
    value < 120 ? [1, "s"] : value < 7200 ? [60, "min"] : value < 172_800 ? [3600, "h"] : [86_400, "days"];
  return `${String(Math.round((value / size) * 10) / 10)} ${unit}`;
}
