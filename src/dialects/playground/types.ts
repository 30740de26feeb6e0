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

/** A request as it goes over the wire. */
export interface WireRequest {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/**
 * How the console's playground speaks a dialect. A dialect's folder exports one from `playground.ts`, which the console is
 * built with; it runs in the browser, so that it imports nothing of the gateway but this folder.
 */
export interface PlaygroundDialect {
  /** The name of the dialect's folder. */
  readonly id: string;
  readonly name: string;
  request(ask: Ask): WireRequest;
  /** What one event of a stream says; `data` is parsed JSON. */
  event(data: unknown): readonly Piece[];
  /** What the whole answer of a request without a stream says. */
  whole(body: unknown): readonly Piece[];
  /** The same request by the vendor's own JavaScript SDK. */
  javascript(origin: string, request: WireRequest, ask: Ask): string;
  /** The same request by the vendor's own Python SDK. */
  python(origin: string, request: WireRequest, ask: Ask): string;
}
