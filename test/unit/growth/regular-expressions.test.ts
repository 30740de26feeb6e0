import { describe, expect, it } from "vitest";
import { REQUEST_REWRITES as MESSAGE_FIELDS } from "../../../src/gateway/providers/anthropic/request-rewrites.ts";
import { REQUEST_REWRITES as CONTENT_FIELDS } from "../../../src/gateway/providers/gemini/request-rewrites.ts";
import { REQUEST_REWRITES as CHAT_FIELDS } from "../../../src/gateway/providers/openai/request-rewrites.ts";
import { REQUEST_REWRITES as RESPONSE_FIELDS } from "../../../src/gateway/providers/openai-responses/request-rewrites.ts";
import { OPTIONAL_MEMBERS } from "../../../src/gateway/providers/refused-fields/optional-members.ts";
import { regExpsOf, superLinearText, type WrittenRegExp } from "../../support/regular-expressions.ts";
import { sources } from "../architecture/sources.ts";

/** Expressions that take more than linear time and only ever see a short text, by what they begin with, and what bounds the text. */
const OVER_SHORT_TEXTS: Readonly<Record<string, string>> = {
  "^(?<shell>.*?)(?<local>tool":
    "a tag has at most TAG_LIMIT (1024) characters, see readTag in src/gateway/tools/tags.ts",
};

/** Files that build expressions from texts; all that they build is checked below. */
/** `known-models.ts` has patterns of shipped data, for names of models and hosts alone. */
const BUILDERS = [
  "src/gateway/models/known-models.ts",
  "src/gateway/providers/refused-fields/rejection-patterns.ts",
];
const BUILT: readonly WrittenRegExp[] = [
  ...OPTIONAL_MEMBERS.map(({ path, rejectionPattern }) => ({
    place: `src/gateway/providers/refused-fields/optional-members.ts, ${path}`,
    regex: rejectionPattern,
  })),
  ...Object.entries({
    gemini: CONTENT_FIELDS,
    anthropic: MESSAGE_FIELDS,
    openai: CHAT_FIELDS,
    "openai-responses": RESPONSE_FIELDS,
  }).flatMap(([driver, rewrites]) =>
    rewrites.map(({ name, rejectionPattern }) => ({
      place: `src/gateway/providers/${driver}/request-rewrites.ts, ${name}`,
      regex: rejectionPattern,
    })),
  ),
];

const FILES = ["src", "durable-objects"].flatMap(sources).filter(({ path }) => !path.endsWith(".d.ts"));
const WRITTEN = FILES.map(regExpsOf);

/** The expressions that take more than linear time, each with a text that shows it. */
async function offenders(written: readonly WrittenRegExp[]): Promise<string[]> {
  const found: string[] = [];
  const checked = new Set<string>();
  for (const { place, regex } of written) {
    if (checked.size === checked.add(String(regex)).size) continue;
    const text = await superLinearText(regex);
    if (text !== null) found.push(`${place} ${regex} takes more than linear time on ${text}`);
  }
  return found;
}

describe("the check of regular expressions", () => {
  it.each([
    String.raw`/\w+(?:\.\w+)+/g`,
    String.raw`/\/+$/`,
    String.raw`/([?&;][\w.-]*(?:key|token)[\w.-]*=)[^&;]*/gi`,
    String.raw`/^(?:[^\s:]+|[\da-f:.]*:[\da-f:.]*)$/i`,
    "/(a+)+$/",
    "/one[^.]*other/",
    String.raw`/^\s*<a>|\s+$/m`,
  ])("finds %s where it is written", async (literal) => {
    const { literals } = regExpsOf({
      path: "src/bad.ts",
      text: `const a = 1;\nconst bad: RegExp = ${literal};\n`,
    });
    expect(await offenders(literals)).toEqual([expect.stringContaining(`src/bad.ts:2 ${literal} takes`)]);
  });

  it.each([/\b\w+@/g, /(?<!\w)\w+(?:\.\w+)+/g, /one[^.]{0,80}other/, /^\s*a/])(
    "lets %s pass",
    async (regex) => {
      expect(await offenders([{ place: "", regex }])).toEqual([]);
    },
  );
});

it("finds hundreds of expressions in the program, and knows what builds others", () => {
  expect(WRITTEN.flatMap(({ literals }) => literals).length).toBeGreaterThan(300);
  expect(BUILT.length).toBeGreaterThan(60);
  const builders = WRITTEN.flatMap(({ built }) => built.map((place) => place.replace(/:\d+$/, "")));
  expect([...new Set(builders)].toSorted()).toEqual(BUILDERS);
});

it("every regular expression of the program takes linear time", async () => {
  const literals = WRITTEN.flatMap(({ literals: written }) => written);
  const isShort = ({ regex }: WrittenRegExp) =>
    Object.keys(OVER_SHORT_TEXTS).some((start) => regex.source.startsWith(start));
  expect(literals.filter(isShort)).toHaveLength(Object.keys(OVER_SHORT_TEXTS).length);
  expect(await offenders([...literals, ...BUILT].filter((written) => !isShort(written)))).toEqual([]);
}, 300_000);
