import { ConfigError } from "../base/errors.ts";

/** Throws ConfigError for anything but a whole number in this range. */
export function assertCount(name: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return;
  const range = `from ${min}${max === Number.MAX_SAFE_INTEGER ? "" : ` to ${max}`}`;
  throw new ConfigError(`${name} should be a whole number ${range}, and is ${value}`);
}
