import fc from "fast-check";
import { cases } from "./corpus.ts";
import { GENERATED, type Generated, generatedCalls, mutate, plainMarkdown } from "./generators.ts";
import {
  chunks,
  LOOSE,
  random,
  randomPieces,
  type Scanned,
  scanPieces,
  scanWhole,
  TYPED,
} from "./support.ts";

/** Properties that hold for every text. Each takes a seed for its cuts and throws with the reason when it fails. */

function same(got: Scanned, wanted: Scanned, why: string, text: string): void {
  const [left, right] = [JSON.stringify(got), JSON.stringify(wanted)];
  if (left !== right) throw new Error(`${why}\n got ${left}\n not ${right}\n for ${JSON.stringify(text)}`);
}

/** However a text is cut, the result is the same, and arguments always parse (`scanPieces` sees to that). */
function cutsDoNotMatter(text: string, seed: number): Scanned {
  const tools = seed % 2 === 0 ? TYPED : LOOSE;
  const whole = scanPieces([text], tools);
  same(scanPieces(chunks(text, 1), tools), whole, "unit by unit", text);
  const next = random(seed);
  for (let round = 0; round < 3; round++) {
    const pieces = randomPieces(text, next);
    same(scanPieces(pieces, tools), whole, JSON.stringify(pieces), text);
  }
  scanWhole(text, tools);
  return whole;
}

function callsComeBack({ text, shown, calls }: Generated, seed: number): void {
  const wanted = { text: shown, calls };
  same(scanWhole(text, GENERATED), wanted, "as a whole", text);
  same(scanPieces(chunks(text, 1), GENERATED), wanted, "unit by unit", text);
  const pieces = randomPieces(text, random(seed));
  same(scanPieces(pieces, GENERATED), wanted, JSON.stringify(pieces), text);
}

function textPasses(text: string, seed: number): void {
  const result = cutsDoNotMatter(text, seed);
  same(result, { text, calls: [] }, "text does not pass", text);
}

/** Wherever a text is cut off, the calls that end are those of the whole text, and what had not ended has no end. */
function cutsCloseNothing({ text, calls }: Generated, seed: number): void {
  const at = seed % (text.length + 1);
  for (const whole of [false, true]) {
    const pieces = whole ? [text.slice(0, at)] : chunks(text.slice(0, at), 3);
    const found = scanPieces(pieces, GENERATED, whole, true).calls;
    const ended = found.filter((call) => !call.cut);
    const why = `cut off at ${at}${whole ? ", as a whole" : ""}`;
    same({ text: "", calls: ended }, { text: "", calls: calls.slice(0, ended.length) }, why, text);
  }
}

export interface Failure {
  seed: number;
  reason: string;
  /** The shrunk value, which `repeat` takes. */
  value: unknown;
}

export interface Property {
  name: string;
  /** Tries `runs` random values; returns the smallest that fails. */
  check: (seed: number, runs: number) => Failure | undefined;
  /** Tries one saved value; throws if it fails. */
  repeat: (value: unknown) => void;
}

function property<T>(
  name: string,
  values: fc.Arbitrary<T>,
  isValue: (value: unknown) => value is T,
  holds: (value: T) => void,
): Property {
  return {
    name,
    check: (seed, runs) => {
      const details = fc.check(fc.property(values, holds), { seed, numRuns: runs });
      if (!details.failed) return undefined;
      const error: unknown = details.errorInstance;
      const reason = error instanceof Error ? error.message : String(error);
      return { seed, reason, value: details.counterexample?.[0] };
    },
    repeat: (value) => {
      if (!isValue(value)) throw new Error(`no value of "${name}"`);
      holds(value);
    },
  };
}

interface Cut {
  text: string;
  seed: number;
}

function isCut(value: unknown): value is Cut {
  return typeof value === "object" && value !== null && "text" in value && "seed" in value;
}

function isGenerated(value: unknown): value is Generated & Cut {
  return isCut(value) && "shown" in value && "calls" in value;
}

const seed = fc.nat();
const place = fc.double({ min: 0, max: 0.999, noNaN: true });
const changes = fc.array(fc.tuple(fc.nat(3), place), { minLength: 1, maxLength: 3 });
const inputs = fc.constantFrom(...cases.map((one) => one.input));
const mutated = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .tuple(texts, changes)
    .map(([text, list]) => list.reduce((current, [kind, at]) => mutate(current, kind, at), text));
const neighbours = fc
  .tuple(fc.array(inputs, { minLength: 2, maxLength: 3 }), fc.constantFrom("", "\n", "\n\n", " ` "))
  .map(([list, between]) => list.join(between));

function cut(
  name: string,
  texts: fc.Arbitrary<string>,
  holds: (text: string, seed: number) => unknown,
): Property {
  return property(name, fc.record({ text: texts, seed }), isCut, (value) => {
    holds(value.text, value.seed);
  });
}

export const properties: readonly Property[] = [
  property(
    "generated calls come back",
    fc.tuple(generatedCalls, seed).map(([generated, seed]) => ({ ...generated, seed })),
    isGenerated,
    (value) => callsComeBack(value, value.seed),
  ),
  property(
    "a cut closes nothing",
    fc.tuple(generatedCalls, seed).map(([generated, seed]) => ({ ...generated, seed })),
    isGenerated,
    (value) => cutsCloseNothing(value, value.seed),
  ),
  cut("Markdown without calls passes", plainMarkdown, textPasses),
  cut("mutated cases do not depend on cuts", mutated(inputs), cutsDoNotMatter),
  cut(
    "mutated generated calls do not depend on cuts",
    mutated(generatedCalls.map((one) => one.text)),
    cutsDoNotMatter,
  ),
  cut("neighbouring cases do not depend on cuts", neighbours, cutsDoNotMatter),
];
