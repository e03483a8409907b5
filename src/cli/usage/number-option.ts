import { InvalidArgumentError, Option } from "commander";
import { decimal, type Parse, whole } from "../../base/config/setting-values.ts";

/** A flag that is not a setting and takes a whole number. */
export function wholeOption(flags: string, meaning: string, range: { min: number; max: number }): Option {
  return new Option(flags, meaning).argParser(parsedBy(whole(range.min, range.max)));
}

/** A flag that is not a setting and takes a number with decimals. */
export function decimalOption(flags: string, meaning: string, range: { min: number; max: number }): Option {
  return new Option(flags, meaning).argParser(parsedBy(decimal(range.min, range.max)));
}

function parsedBy<T>(parse: Parse<T>): (text: string) => T {
  return (text) => {
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    throw new InvalidArgumentError(`It ${parsed.fault}.`);
  };
}
