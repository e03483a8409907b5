/**
 * Raised with each change of what normalizing makes of a record: another field is read, or a value is read in another way. Records and
 * pages are remembered by hashes that hold it, so the next walk after an upgrade reads all of them anew, once.
 */
export const NORMALIZER_VERSION = 2;
