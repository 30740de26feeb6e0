import type { ToolDefinition } from "../../../../src/core/conversation/tool.ts";
import { type ScanEvent, ToolScanner } from "../../../../src/gateway/tools/tool-scanner.ts";

export interface Found {
  name: string;
  arguments: string;
  /** The text was over within it: its arguments are a fragment. */
  cut?: true;
}

export interface Scanned {
  text: string;
  calls: Found[];
}

/** Tools whose parameters are not declared, so that values are read by their looks. */
export const LOOSE: readonly ToolDefinition[] = [{ name: "run" }];

export const TYPED: readonly ToolDefinition[] = [
  {
    name: "write",
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        content: { type: "string" },
        lines: { type: "array", items: { type: "string" } },
        options: { type: "object" },
        label: { type: ["string", "null"] },
        count: { type: "integer" },
      },
    },
  },
  { name: "now" },
];

/** Folds events and checks the order that every reader relies on. */
export function fold(events: readonly ScanEvent[], firstIndex = 0): Scanned {
  const result: Scanned = { text: "", calls: [] };
  let open: Found | undefined;
  for (const event of events) {
    if (event.type === "text") {
      if (event.text === "") throw new Error("an empty text event");
      if (open) throw new Error("text within a call");
      result.text += event.text;
      continue;
    }
    if (event.type === "tool-call") {
      if (open) throw new Error("a call within a call");
      if (event.index !== firstIndex + result.calls.length) throw new Error(`index ${event.index}`);
      open = { name: event.name, arguments: "" };
      result.calls.push(open);
      continue;
    }
    if (!open || event.index !== firstIndex + result.calls.length - 1) throw new Error("a stray event");
    if (event.type === "tool-arguments") {
      if (event.delta === "") throw new Error("an empty fragment");
      if (open.arguments === "" && !event.delta.startsWith("{"))
        throw new Error("the first fragment lacks {");
      open.arguments += event.delta;
    } else {
      if (!isWhole(open.arguments)) throw new Error(`no object: ${open.arguments}`);
      open = undefined;
    }
  }
  if (open) {
    if (isWhole(open.arguments)) throw new Error("a call without end whose arguments have one");
    open.cut = true;
  }
  return result;
}

function isWhole(text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

/** @param cut The text did not end by itself. */
export function scanPieces(
  pieces: Iterable<string>,
  tools: readonly ToolDefinition[] = LOOSE,
  whole = false,
  cut = false,
): Scanned {
  const scanner = new ToolScanner({ tools, whole });
  const events: ScanEvent[] = [];
  for (const piece of pieces) events.push(...scanner.push(piece));
  events.push(...scanner.finish(cut));
  return fold(events);
}

export function scan(text: string, tools: readonly ToolDefinition[] = LOOSE): Scanned {
  return scanPieces([text], tools);
}

export function scanWhole(text: string, tools: readonly ToolDefinition[] = LOOSE, cut = false): Scanned {
  return scanPieces([text], tools, true, cut);
}

/** A call that did not end is left out of a whole answer: nothing is written of its arguments. */
export function leftOut(call: Found): Found {
  return call.cut ? { ...call, arguments: "" } : call;
}

export function* chunks(text: string, size: number): Generator<string> {
  for (let at = 0; at < text.length; at += size) yield text.slice(at, at + size);
}

/** A small seeded generator (mulberry32), so that a failing run can be repeated. */
export function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export function randomPieces(text: string, next: () => number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; ) {
    const size = 1 + Math.floor(next() ** 3 * 40);
    pieces.push(text.slice(at, at + size));
    at += size;
  }
  return pieces;
}

/** Texts of at most so many units are cut at every two places: in CI those that take a second of it in all. */
const CUT_TWICE = Number(process.env["CUT_TWICE"] ?? 60);

/** Every way of cutting that the corpus is put through; fails with the cut that gives another result. */
export function assertInvariant(
  text: string,
  tools: readonly ToolDefinition[],
  expected: Scanned,
  seed: number,
  over = false,
): void {
  const wanted = JSON.stringify(expected);
  const check = (pieces: Iterable<string>, how: () => string): void => {
    const got = JSON.stringify(scanPieces(pieces, tools, false, over));
    if (got !== wanted)
      throw new Error(`${how()}\n got ${got}\n not ${wanted}\n for ${JSON.stringify(text)}`);
  };
  check([text], () => "in one piece");
  for (const size of [1, 2, 3, 5, 8, 13]) check(chunks(text, size), () => `in pieces of ${size}`);
  for (let cut = 1; cut < text.length; cut++) {
    check([text.slice(0, cut), text.slice(cut)], () => `cut at ${cut}`);
  }
  if (text.length <= CUT_TWICE) {
    for (let first = 1; first < text.length; first++) {
      for (let second = first + 1; second < text.length; second++) {
        const pieces = [text.slice(0, first), text.slice(first, second), text.slice(second)];
        check(pieces, () => `cut at ${first} and ${second}`);
      }
    }
  }
  const next = random(seed);
  for (let round = 0; round < 8; round++) {
    const pieces = randomPieces(text, next);
    check(pieces, () => `seed ${seed}, round ${round}: ${JSON.stringify(pieces)}`);
  }
}
