import type { BuildLife, FailureKind } from "./build-life.ts";
import { createRandom, hash, type Random, STREAM } from "./random.ts";
import { ODD_TEXTS, sentence, word } from "./words.ts";

const UNREACHABLE = [
  "Could not resolve host: git.example.org",
  "The requested URL returned error: 503",
  "Failed to connect to git.example.org port 443",
] as const;

export interface BuildTexts {
  output: string;
  error: string;
  setup: string;
  setup_error: string;
}

export interface BuildPlace {
  projectSlug: string;
  versionSlug: string;
}

/** A build that has not finished has no output yet. */
export const NO_TEXTS: BuildTexts = { output: "", error: "", setup: "", setup_error: "" };

/** The texts of a finished build, computed again from its row number each time. */
export function buildTexts(
  seed: number,
  row: number,
  life: BuildLife,
  place: BuildPlace,
  style: { outputBytes: number; oddTexts: boolean },
): BuildTexts {
  const random = createRandom(hash(seed, STREAM.buildTexts, row));
  const checkout = `checkouts/${place.projectSlug}/${place.versionSlug}/docs`;
  const commit = hash(seed, STREAM.buildTexts, row + 0.5e9)
    .toString(16)
    .padStart(8, "0");
  const texts: BuildTexts = {
    output: "",
    error: "",
    setup: `HEAD is now at ${commit} ${sentence(random, 4)}\n`,
    setup_error: "",
  };
  if (life.failure === null || reachesOutput(life.failure)) {
    texts.output = writeOutput(random, checkout, style, life.failure === null);
  }
  if (life.failure !== null) Object.assign(texts, failureTexts(life.failure, random, checkout, place, texts));
  return texts;
}

/** Whether the documentation tool was started at all. */
function reachesOutput(failure: FailureKind): boolean {
  return failure !== "clone" && failure !== "distribution";
}

function writeOutput(
  random: Random,
  checkout: string,
  style: { outputBytes: number; oddTexts: boolean },
  succeeds: boolean,
): string {
  if (style.outputBytes <= 0) return "";
  const size = style.outputBytes * (0.5 + random.next());
  const odd = style.oddTexts && random.chance(0.1) ? random.pick(ODD_TEXTS) : undefined;
  let text = "Running docgen v1.4.2\nloading pickled environment... done\n";
  const end = succeeds ? "build succeeded.\n" : "build finished with problems.\n";
  while (text.length + end.length < size) {
    const kind = random.next();
    if (kind < 0.2) {
      text += `${checkout}/${word(random)}/${word(random)}.rst:${1 + random.int(900)}: WARNING: undefined label: ${word(random)}\n`;
    } else {
      const percent = Math.min(100, Math.floor((100 * text.length) / size));
      text += `${kind < 0.6 ? "reading sources" : "writing output"}... [${String(percent).padStart(3)}%] ${word(random)}/${word(random)}\n`;
    }
  }
  if (odd !== undefined) text += `\u001b[33mnote\u001b[0m: ${odd}\n`;
  return text + end;
}

function failureTexts(
  failure: FailureKind,
  random: Random,
  checkout: string,
  place: BuildPlace,
  texts: BuildTexts,
): Partial<BuildTexts> {
  const name = word(random);
  const line = 1 + random.int(400);
  switch (failure) {
    case "clone":
      return {
        setup: "Cloning into '.'...\n",
        setup_error:
          `fatal: unable to access 'https://git.example.org/u/${place.projectSlug}/': ` +
          `${random.pick(UNREACHABLE)}\n` +
          "git clone failed: exit 128\n",
        error: "Failed to import project; skipping build.\n",
      };
    case "distribution":
      return {
        setup: `${texts.setup}Collecting ${name}==${random.int(9)}.${random.int(20)}\n`,
        setup_error:
          `ERROR: Could not find a version that satisfies the requirement ${name}>=${10 + random.int(9)}\n` +
          `ERROR: No matching distribution found for ${name}\n`,
      };
    case "configuration":
      return {
        error:
          "Configuration error:\nThere is a programmable error in your configuration file:\n\n" +
          `Traceback (most recent call last):\n  File "${checkout}/conf.py", line ${line}, in <module>\n` +
          `    import ${name}\nModuleNotFoundError: No module named '${name}'\n`,
      };
    case "warning":
      return {
        error: `Warning, treated as error:\n${checkout}/${name}.rst:${line}: WARNING: document isn't included in any toctree\n`,
      };
    case "latex":
      return {
        error:
          `! LaTeX Error: File \`${name}.sty' not found.\n\nl.${line} \\usepackage{${name}}\nEmergency stop.\n` +
          "latexmk: Errors, so I did not complete making targets\n",
      };
    case "timeout":
      return { error: `Command killed due to timeout: make html ran for more than 900 seconds\n` };
    case "inactivity":
      return { error: "This build was terminated due to inactivity.\n" };
    case "memory":
      return { error: "Command killed due to excessive memory consumption: exit 137\n" };
  }
}
