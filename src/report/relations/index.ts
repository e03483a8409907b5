import { BUILDS } from "./builds.ts";
import { DIMENSIONS } from "./dimensions.ts";
import { ERRORS } from "./errors.ts";
import { FAILURES } from "./failures.ts";
import { MIRROR } from "./mirror.ts";
import { RATES } from "./rates.ts";

/** All relations of schema `report`, in the order in which people read of them. */
export const DICTIONARY = { ...DIMENSIONS, ...RATES, ...BUILDS, ...FAILURES, ...ERRORS, ...MIRROR };
