/**
 * Raise this whenever normalizing gives another result: a new field, or a value read in another way. The
 * hashes of records and pages include it, so the next walk after an upgrade reads all of them again, once.
 */
export const NORMALIZER_VERSION = 3;
