/** Characters that Postgres stores as a blank, and those that it drops (RFC 4013, 2.1). */
const BLANKS = /[\u00A0\u1680\u2000-\u200B\u202F\u205F\u3000]/gu;
const DROPPED = /[\u00AD\u1806\u2060\uFEFF]|[\u180B-\u180D]|\u034F|\u200C|\u200D|[\uFE00-\uFE0F]/gu;
/**
 * With one of these Postgres takes a password as it is: control characters and those that are newer than the rule,
 * such as emoji. Writing from right to left has rules of its own, and changes rarely.
 */
const LEFT_ALONE =
  /[\u{10000}-\u{10FFFF}\p{C}\u2028\u2029\uFFFC\uFFFD\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}]/u;

/**
 * A password in the one spelling that Postgres keeps a SCRAM secret for: an accent may be typed as a part of its
 * letter or after it. The driver sends passwords as they are, and would be refused.
 */
export function scramPassword(password: string): string {
  if (/[\u{10000}-\u{10FFFF}]/u.test(password)) return password;
  const mapped = password.replace(BLANKS, " ").replace(DROPPED, "");
  return mapped === "" || LEFT_ALONE.test(mapped) ? password : mapped.normalize("NFKC");
}
