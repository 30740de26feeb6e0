import {
  CitationFilter,
  findClaimBefore,
  linkCitations,
} from "../../../../src/gateway/generation/assembly/citations.ts";
import { extractJson, JsonExtractor } from "../../../../src/gateway/generation/format/json-extractor.ts";
import { random, randomPieces } from "../../gateway/tools/support.ts";
import { type Target, target } from "../target.ts";

const ANSWERS = [
  'Here it is:\n```json\n{"a": [1, "x"], "b": {"c": null}}\n```\nDone.',
  '{"a": "with ``` inside and \\" quotes"} and words',
  "[1, 2, 3]",
  "```\n[true]\n``` ``` {",
  "no JSON [citation:1] at { all",
];
const FORMATS = [
  { type: "json" },
  { type: "json-schema", schema: { type: "object", properties: { a: { type: "array" } } } },
  { type: "json-schema", schema: { type: "array" } },
] as const;

/** Text around JSON goes, however the answer is cut; an answer that is JSON by itself stays as it is. */
const jsonTexts = target("JSON in answers", ANSWERS, (input) => {
  for (const format of FORMATS) {
    const whole = extractJson(input, format);
    const stage = new JsonExtractor(format);
    const pieces = randomPieces(input, random(input.length)).map((piece) => stage.push(piece));
    if (pieces.join("") + stage.finish() !== whole) throw new Error("it depends on cuts");
    if (!input.includes(whole)) throw new Error("it says what the answer did not");
    let value: unknown;
    try {
      value = JSON.parse(input);
    } catch {
      continue;
    }
    const isObject = typeof value === "object" && value !== null;
    if (isObject && format.type === "json" && JSON.stringify(JSON.parse(whole)) !== JSON.stringify(value)) {
      throw new Error("JSON was changed");
    }
  }
});

const CITED = [
  "The sky is blue [citation:1]. It rains [citation:2][citation:1], often [reference:0].",
  "[reference:1]\n\n- one [citation:99]\n- two [citation:",
  "[[citation:1]] [citation:01] [citation:9007199254740993]",
];
const RESULTS = [
  { index: 1, url: "https://one.example/a(b) c", title: "One" },
  { index: 2, url: "https://two.example/?q=<x>", title: "Two ] [" },
].map((result) => ({ ...result, snippet: "" }));

/** Markers go, however the text is cut; citations stand within the text. */
const citations = target("citations", CITED, (input) => {
  const shown = (pieces: readonly string[]) => {
    const filter = new CitationFilter();
    const text = pieces.map((piece) => filter.push(piece)).join("") + filter.finish();
    return JSON.stringify([text, filter.citations(RESULTS)]);
  };
  const whole = shown([input]);
  if (shown(randomPieces(input, random(input.length))) !== whole) throw new Error("it depends on cuts");
  const linked = linkCitations(input, RESULTS);
  for (const { start, end } of linked.citations) {
    if (start < 0 || end < start || end > linked.text.length)
      throw new Error(`a citation from ${start} to ${end}`);
  }
  findClaimBefore(input, Math.floor(input.length / 2));
});

export const answersTargets: readonly Target[] = [jsonTexts, citations];
