import { RESOURCES } from "../../src/resources/resources.ts";

/** The name of each list as rows, for a statement. */
export const EACH_LIST = `unnest(array[${RESOURCES.map((resource) => `'${resource}'`).join()}])`;
