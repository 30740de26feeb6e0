import { evaluateIsolated } from "../tab/evaluate.ts";
import type { Tab } from "../tab/tab.ts";

const CHECK_MS = 1_000;
/** Maximum text nodes and UTF-16 code units to read, and different letters of one script to draw. */
const MAX_NODES = 5_000;
const MAX_TEXT = 200_000;
const MAX_LETTERS = 8;

/** Scripts that a browser without fonts of its own often cannot draw, as Unicode names them. */
const SCRIPTS = [
  ...["Han", "Hiragana", "Katakana", "Hangul", "Thai", "Arabic", "Hebrew", "Devanagari"],
  ...["Bengali", "Tamil", "Telugu", "Armenian", "Georgian", "Khmer", "Ethiopic"],
] as const;
/** The names of emoji and of all other scripts in the result. */
const OTHER_NAMES = ["Emoji", "Other"] as const;

/**
 * Finds the scripts of a page's text for which the browser has no glyphs: a picture shows empty boxes instead. Uses the
 * fonts that the page brings.
 */
export async function findMissingGlyphs(tab: Tab): Promise<string[]> {
  const found = await evaluateIsolated(tab, FIND_MISSING, CHECK_MS);
  const text = typeof found === "string" ? found : "";
  return [...SCRIPTS, ...OTHER_NAMES].filter((name) => text.split(",").includes(name));
}

/**
 * Draws some letters of each script, because a font may have only a part of them, and compares each with a character that
 * no font has.
 */
const FIND_MISSING = `(() => {
  const scripts = ${JSON.stringify(SCRIPTS)}.map((name) =>
    // Ignorable letters are invisible in every font.
    [name, new RegExp("(?=\\\\p{Letter})(?!\\\\p{Default_Ignorable_Code_Point})\\\\p{Script=" + name + "}", "gu")]);
  scripts.push(["Emoji", /\\p{Emoji_Presentation}/gu]);
  const known = ["Latin", "Greek", "Cyrillic", "Common", "Inherited", ...${JSON.stringify(SCRIPTS)}];
  scripts.push(["Other", new RegExp("(?!" + known.map((name) => "\\\\p{Script=" + name + "}").join("|") + ")\\\\p{Letter}", "gu")]);
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 32;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const draw = (text, family) => {
    context.clearRect(0, 0, 32, 32);
    context.font = "20px " + family;
    context.fillText(text, 2, 24);
    return context.getImageData(0, 0, 32, 32).data.join();
  };
  const missing = new Set();
  const drawn = new Map(scripts.map(([name]) => [name, new Set()]));
  const walker = document.createTreeWalker(document.body ?? document, NodeFilter.SHOW_TEXT);
  let remaining = ${MAX_TEXT};
  for (let count = 0; count < ${MAX_NODES} && remaining > 0 && walker.nextNode(); count++) {
    const { parentElement } = walker.currentNode;
    const data = walker.currentNode.data.slice(0, remaining);
    remaining -= data.length;
    if (!/[^\\x00-\\u024f]/.test(data) || /^(?:script|style|noscript)$/i.test(parentElement?.tagName ?? "")) continue;
    for (const [name, pattern] of scripts) {
      const letters = drawn.get(name);
      if (missing.has(name) || letters.size >= ${MAX_LETTERS}) continue;
      for (const [letter] of data.matchAll(pattern)) {
        if (letters.has(letter)) continue;
        letters.add(letter);
        const { fontFamily } = getComputedStyle(parentElement ?? document.documentElement);
        if (draw(letter, fontFamily) === draw("\\u{10fffd}", fontFamily)) missing.add(name);
        if (missing.has(name) || letters.size >= ${MAX_LETTERS}) break;
      }
    }
  }
  return [...missing].join();
})()`;
