import type {
  AnswerPiece,
  PlaygroundDialect,
  WireRequest,
} from "../../../../gateway/dialects/playground/types.ts";
import { ApiError, errorMessage } from "../../api/client.ts";
import { texts } from "../../api/texts.ts";
import { type Answer, appendPiece, NO_ANSWER } from "./conversation.ts";
import { readStreamEvents, type StreamEvent } from "./stream-events.ts";

/** A received event with its time. */
export interface RawEvent extends StreamEvent {
  /** Milliseconds since the request was sent. */
  readonly at: number;
}

/** An exchange, possibly incomplete. */
export interface Exchange {
  readonly answer: Answer;
  readonly events: readonly RawEvent[];
  readonly status: number;
  /** Milliseconds until the first text, reasoning or tool call; null before it. */
  readonly firstToken: number | null;
  readonly elapsed: number;
}

export const NO_EXCHANGE: Exchange = {
  answer: NO_ANSWER,
  events: [],
  status: 0,
  firstToken: null,
  elapsed: 0,
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const hasBegun = ({ text, reasoning, calls }: Answer): boolean =>
  text !== "" || reasoning !== "" || calls.length > 0;

/** Options for sending a request. */
export interface SendOptions {
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with each step. The promise resolves with the last one. */
  readonly onProgress: (exchange: Exchange) => void;
}

/**
 * Sends a request and streams the answer. An error response of the gateway is part of the exchange.
 *
 * @throws ApiError if the gateway is unreachable; an AbortError if `signal` aborts.
 */
export async function streamAnswer(
  dialect: PlaygroundDialect,
  request: WireRequest,
  options: SendOptions,
): Promise<Exchange> {
  const started = performance.now();
  const response = await fetch(request.path, {
    method: "POST",
    headers: {
      ...options.headers,
      "content-type": "application/json",
      authorization: `Bearer ${options.key}`,
      "x-gateway-source": "console",
    },
    body: JSON.stringify(request.body),
    signal: options.signal,
  }).catch((error) => {
    if (options.signal.aborted) throw error;
    throw new ApiError(0, texts.gatewayCannotBeReached);
  });

  let exchange: Exchange = { ...NO_EXCHANGE, status: response.status };
  const addPieces = (event: string, data: string, pieces: readonly AnswerPiece[]) => {
    const elapsed = performance.now() - started;
    const answer = pieces.reduce(appendPiece, exchange.answer);
    exchange = {
      ...exchange,
      answer,
      events: [...exchange.events, { at: elapsed, event, data }],
      firstToken: exchange.firstToken ?? (hasBegun(answer) ? elapsed : null),
      elapsed,
    };
    options.onProgress(exchange);
  };

  const events = readStreamEvents(response);
  if (events === null) {
    const text = await response.text();
    const body = parseJson(text);
    const failure = { type: "error", message: errorMessage(body, response.status) } as const;
    addPieces("", text, response.ok ? dialect.parseAnswer(body) : [failure]);
    return exchange;
  }
  for await (const { event, data } of events) addPieces(event, data, dialect.parseEvent(parseJson(data)));
  return exchange;
}
