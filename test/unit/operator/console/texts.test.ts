import { globSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { transform } from "esbuild";
import { describe, expect, it } from "vitest";
import de from "../../../../src/operator/console/languages/de.ts";
import type { Translation } from "../../../../src/operator/console/languages/page-texts.ts";
import zh from "../../../../src/operator/console/languages/zh.ts";

const root = join(import.meta.dirname, "..", "..", "..", "..", "src", "operator", "console");

/** Files whose strings are code, not texts: snippets for callers, and the translations. */
const CODE = /(?:texts|words|snippets|curl|page-texts)\.ts$|\.d\.ts$|^languages\//;
/** Strings that look like texts, but are names, addresses, code and examples. */
const NO_TEXTS = [
  /^(?:Polygate| · Polygate|Bearer|HTTP|GET|POST|PUT|DELETE|CSV|NDJSON|JSON|PNG|JPEG|WebP|PDF|SDKs|OAuth 2|Mac|Etc)\b/,
  /^(?:HTTP \(CONNECT\)|SOCKS5|Anthropic|Discord|Google Gemini|OpenAI Responses|JavaScript|Python|Europe\/Berlin)$/,
  /^(?:ArrowDown|ArrowUp|Enter|Escape|Esc|Ctrl|Shift|Backspace)$/,
  /^(?:English|Deutsch)$/,
  /^(?:input, textarea|main input|429, 5xx|vllm\/qwen3|\(max-width|\(prefers-|11px system-ui|chat\.internal|X-Title|seed, tools)/,
  /^(?:Hello!|The weather in a city at this moment\.|Name of the city)$/,
  /^(?:outage|trouble) |^\.|^#|example\.com|^-----BEGIN|^https?:|^\{"/,
];
/** Properties that show their value. */
const SHOWN =
  /(?:children|title|label|hint|lead|placeholder|noun|action|text|total|summary|below|meaning|threshold|"aria-label"):$/;

/** Strings of a file that a user would read. */
async function findTexts(path: string): Promise<string[]> {
  const source = readFileSync(path, "utf8");
  const { code } = await transform(source, {
    loader: path.endsWith("x") ? "tsx" : "ts",
    jsx: "automatic",
    minifyWhitespace: true,
    legalComments: "none",
    charset: "utf8",
    target: "es2022",
    // Templates become sums of strings.
    supported: { "template-literal": false },
  });
  return [...code.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'/g)].flatMap(
    ({ 1: double, 2: single, index }) => {
      const text = double ?? single ?? "";
      const before = code.slice(Math.max(0, index - 40), index);
      if (/(?:from|import|class:|class:[^,"]*|[!=]==?|case)$/.test(before)) return [];
      const shown = SHOWN.test(before) && /\p{Lu}?\p{Ll}{2}/u.test(text) && !/^[a-z0-9_.:/@-]+$/.test(text);
      const sentence =
        /\p{L}{2}[,.:;]? \p{L}{2}/u.test(text) && !/^[a-z0-9-]+(?: [a-z0-9-]+)+$/.test(text.trim());
      const label = /^\p{Lu}\p{Ll}+(?: |$)/u.test(text);
      return (shown || sentence || label) && !NO_TEXTS.some((rule) => rule.test(text)) ? [text] : [];
    },
  );
}

describe("texts of the console", () => {
  it("are only in the file for the texts of their page", async () => {
    const files = globSync("**/*.{ts,tsx}", { cwd: root }).filter((name) => !CODE.test(name));
    const found = await Promise.all(
      files.map(async (name) => (await findTexts(join(root, name))).map((text) => `${name}: ${text}`)),
    );
    expect(found.flat()).toEqual([]);
  });

  it("are found in all forms in which a page can show them", async () => {
    const sample = join(import.meta.dirname, "sample-with-texts.tsx");
    expect(relative(import.meta.dirname, sample)).toBe("sample-with-texts.tsx");
    expect(await findTexts(sample)).toEqual(["Save", "Not saved", "No key yet", "Delete ", "1 request"]);
  });
});

/** Name and kind of each text: a translation has to have the same. */
const shapeOf = (texts: object) => Object.entries(texts).map(([name, text]) => `${name}: ${typeof text}`);

/** The file of each text, by its name in a translation: `pages/page-service/texts.ts` is `pageService`. */
const ENGLISH = new Map(
  ["ui/words.ts", ...globSync("**/texts.ts", { cwd: root })].map((file) => {
    const folder = file.split("/").at(-2) ?? "shell";
    const name = folder.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
    return [name === "ui" ? "words" : name, file] as const;
  }),
);

describe.each<[string, Translation]>([
  ["German", de],
  ["Chinese", zh],
])("the %s translation", (_, translation) => {
  it("has all pages", () => {
    expect(Object.keys(translation).toSorted()).toEqual([...ENGLISH.keys()].toSorted());
  });

  it.each([...ENGLISH])("has all texts of %s", async (page, file) => {
    const english: Record<string, object> = await import(join(root, file));
    const translated = Object.entries(translation).find(([name]) => name === page)?.[1];
    expect(shapeOf(translated ?? {}).toSorted()).toEqual(
      shapeOf(english["texts"] ?? english["words"] ?? {}).toSorted(),
    );
  });
});
