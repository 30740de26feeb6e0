import { at, numberAt, textAt } from "./json.ts";
import type { Call, Piece } from "./types.ts";

/** Pieces without the empty texts. */
export function pieces(...found: readonly Piece[]): readonly Piece[] {
  return found.filter((piece) => {
    if (piece.type === "text" || piece.type === "reasoning" || piece.type === "arguments")
      return piece.text !== "";
    return piece.type !== "error" || piece.message !== "";
  });
}

/** The token counts of `source`, by what its style calls them; none when it has no count of the answer's. */
export function usageIn(source: unknown, input: string, output: string): Piece[] {
  if (at(source, output) === undefined) return [];
  return [{ type: "usage", input: numberAt(source, input), output: numberAt(source, output) }];
}

/** The error of an answer in the shape that most styles share; its message is empty when there is none. */
export function errorIn(source: unknown): Piece {
  return { type: "error", message: textAt(source, "error", "message") };
}

/** A call's arguments as a value; an empty object when they are no JSON. */
export function argumentsOf(call: Call): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return {};
  }
}
