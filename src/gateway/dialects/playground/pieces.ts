import { numberAt, textAt, valueAt } from "./json.ts";
import type { AnswerPiece, PlaygroundCall } from "./types.ts";

/** Returns the pieces, without empty texts and empty errors. */
export function withoutEmptyPieces(...pieces: readonly AnswerPiece[]): readonly AnswerPiece[] {
  return pieces.filter((piece) => {
    if (piece.type === "text" || piece.type === "reasoning" || piece.type === "arguments")
      return piece.text !== "";
    return piece.type !== "error" || piece.message !== "";
  });
}

/** Reads the token counts of `source` under the names of its style. Returns nothing if there is no output count. */
export function readUsage(source: unknown, input: string, output: string): AnswerPiece[] {
  if (valueAt(source, output) === undefined) return [];
  return [{ type: "usage", input: numberAt(source, input), output: numberAt(source, output) }];
}

/** Reads the error in the shape that most styles share. Its message is empty if there is no error. */
export function readError(source: unknown): AnswerPiece {
  return { type: "error", message: textAt(source, "error", "message") };
}

/** Parses the arguments of a call. Returns an empty object if they are not valid JSON. */
export function parseArguments(call: PlaygroundCall): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return {};
  }
}
