import { at, numberAt, textAt } from "./json.ts";
import type { Call, Piece } from "./types.ts";

/** Returns the pieces, without empty texts and empty errors. */
export function pieces(...found: readonly Piece[]): readonly Piece[] {
  return found.filter((piece) => {
    if (piece.type === "text" || piece.type === "reasoning" || piece.type === "arguments")
      return piece.text !== "";
    return piece.type !== "error" || piece.message !== "";
  });
}

/** Reads the token counts of `source` under the names of its style. Returns nothing if there is no output count. */
export function usageIn(source: unknown, input: string, output: string): Piece[] {
  if (at(source, output) === undefined) return [];
  return [{ type: "usage", input: numberAt(source, input), output: numberAt(source, output) }];
}

/** Reads the error in the shape that most styles share. Its message is empty if there is no error. */
export function errorIn(source: unknown): Piece {
  return { type: "error", message: textAt(source, "error", "message") };
}

/** Parses the arguments of a call. Returns an empty object if they are not valid JSON. */
export function argumentsOf(call: Call): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return {};
  }
}
