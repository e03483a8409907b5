/** An error line without the places of one build: its paths, numbers, hashes and dates. It reads word by word. */

const FILE = "[\\w.@+%~-]+";
const DATE = /\b\d{4}-\d\d-\d\d([Tt ]\d\d:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d:?\d\d)?)?/g;
const TIME = /(?<![:\w])\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(?!\w)/g;
const UUID = /\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi;
const HASH = /\b(0x[0-9a-f]+|(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,64})\b/gi;
const ABSOLUTE = new RegExp(`^(~|\\.{1,2})?(/${FILE})+/?`);
const DEEP = new RegExp(`^${FILE}((/${FILE}){2,}/?|/[\\w@+%~-]*\\.[a-zA-Z]\\w*)`);
const NUMBER = /(?<![\w./=~<>!@'"`-])\d+(,\d+)*(\.\d+)?(?=([kmg]i?b|m?s|%)?([^\w.]|\.\D|\.?$))/gi;
const FILE_LINE = /(?<![\w/.@+-])\w[\w+-]*(\.[\w+-]+)*\.[a-z_]\w*(?=:\d)/gi;

export function maskPlaces(line: string): string {
  const undated = line.replace(UUID, "‹hash›").replace(DATE, "‹date›").replace(TIME, "‹date›");
  return maskFolders(undated)
    .replace(FILE_LINE, "‹path›")
    .replace(HASH, "‹hash›")
    .replace(NUMBER, "‹number›")
    .replace(/\s+/g, " ")
    .trim()
    .replace(/‹path›(,? (and |or )?‹path›)+/g, "‹path›")
    .replace(/‹number›(,? (and |or )?‹number›)+/g, "‹number›");
}

/** Each place at which a path may begin is looked at, from left to right. */
function maskFolders(line: string): string {
  let masked = "";
  for (let at = 0; at < line.length; ) {
    const before = line[at - 1] ?? " ";
    const rest = line.slice(at);
    const path = /[\w/.@+%~<-]/.test(before)
      ? null
      : (ABSOLUTE.exec(rest) ?? (before === ":" ? null : DEEP.exec(rest)));
    masked += path === null ? line[at] : "‹path›";
    at += path?.[0].length ?? 1;
  }
  return masked;
}
