import { InvalidArgumentError } from "commander";
import { type Parse, whole } from "../../base/config/setting.ts";

/** Makes commander read the value of a flag that is not a setting as that of a setting is read. */
export function parsedBy<T>(parse: Parse<T>): (text: string) => T {
  return (text) => {
    const parsed = parse(text);
    if ("value" in parsed) return parsed.value;
    throw new InvalidArgumentError(`It ${parsed.fault}.`);
  };
}

/** For a flag that takes a whole number. */
export const wholeFrom = (min: number, max: number) => parsedBy(whole(min, max));
