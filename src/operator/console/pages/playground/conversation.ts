import type { AnswerPiece, PlaygroundCall } from "../../../../gateway/dialects/playground/types.ts";

/** An answer, possibly incomplete. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly PlaygroundCall[];
  readonly error: string;
  readonly usage: { readonly input: number; readonly output: number } | null;
}

export const NO_ANSWER: Answer = { text: "", reasoning: "", calls: [], error: "", usage: null };

/** Appends a piece to the answer. */
export function appendPiece(answer: Answer, piece: AnswerPiece): Answer {
  switch (piece.type) {
    case "text":
      return { ...answer, text: answer.text + piece.text };
    case "reasoning":
      return { ...answer, reasoning: answer.reasoning + piece.text };
    case "call":
      return { ...answer, calls: [...answer.calls, { id: piece.id, name: piece.name, arguments: "" }] };
    case "arguments": {
      const last = answer.calls.at(-1);
      if (last === undefined) return answer;
      const longer = { ...last, arguments: last.arguments + piece.text };
      return { ...answer, calls: [...answer.calls.slice(0, -1), longer] };
    }
    case "usage":
      return { ...answer, usage: { input: piece.input, output: piece.output } };
    case "error":
      return { ...answer, error: piece.message };
  }
}
