/** ESC [ … of colours and cursors, ESC ] … of titles and links, and the escapes of one character. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
  /[\u001b]\[[0-?]*[ -/]*[@-~]|\u009b[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -/]*[0-~]/g;
/** What draws nothing in a line: controls but the tab. */
const CONTROLS = /(?!\t)\p{Cc}/gu;
const TAB = "    ";

/** A line of a log as it was meant: without colours, cursor moves and control characters, tabs as four spaces. */
export function cleanLine(line: string): string {
  return line.replace(ESCAPES, "").replace(CONTROLS, "").replaceAll("\t", TAB);
}
