/** A call that the model has made; `arguments` is JSON text. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** One turn of the conversation, in no dialect. */
export type Turn =
  | { readonly role: "user"; readonly text: string }
  | {
      readonly role: "assistant";
      readonly text: string;
      readonly reasoning: string;
      readonly calls: readonly Call[];
    }
  | { readonly role: "tool"; readonly call: Call; readonly output: string };

/** A tool that is offered; `parameters` is a JSON schema. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: unknown;
}

/** All that a request is made of. */
export interface Ask {
  readonly model: string;
  readonly system: string;
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly stream: boolean;
}

/** A piece of an answer, in no dialect. A call's arguments come in parts. */
export type Piece =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  | { readonly type: "call"; readonly id: string; readonly name: string }
  | { readonly type: "arguments"; readonly text: string }
  | { readonly type: "usage"; readonly input: number; readonly output: number }
  | { readonly type: "error"; readonly message: string };

/** An answer as far as it has come. */
export interface Answer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly Call[];
  readonly error: string;
  readonly usage: { readonly input: number; readonly output: number } | null;
}

export const NO_ANSWER: Answer = { text: "", reasoning: "", calls: [], error: "", usage: null };

/** The answer with one more piece. */
export function withPiece(answer: Answer, piece: Piece): Answer {
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

/** A call's arguments as a value; an empty object when they are no JSON. */
export function argumentsOf(call: Call): unknown {
  try {
    return JSON.parse(call.arguments);
  } catch {
    return {};
  }
}
