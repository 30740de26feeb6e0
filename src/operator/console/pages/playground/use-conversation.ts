import { useEffect, useRef, useState } from "preact/hooks";
import type {
  PlaygroundCall,
  PlaygroundDialect,
  PlaygroundRequest,
  PlaygroundTurn,
  WireRequest,
} from "../../../../gateway/dialects/playground/types.ts";
import { toMessage } from "../../api/client.ts";
import { readFirstKey } from "../../api/config.ts";
import { type Choices, createRequest, findDialect, findProblem } from "./choices.ts";
import { type Exchange, NO_EXCHANGE, streamAnswer } from "./stream-answer.ts";
import { texts } from "./texts.ts";

/** A conversation with one model: its state and actions. */
export interface Conversation {
  readonly model: string;
  readonly turns: readonly PlaygroundTurn[];
  readonly exchange: Exchange;
  readonly running: boolean;
  readonly error: string;
  readonly dialect: PlaygroundDialect;
  readonly headers: Readonly<Record<string, string>>;
  readonly ask: PlaygroundRequest;
  /** The request of the newest answer, or the next request. */
  readonly request: WireRequest;
  /** The tool calls of the newest answer, which still need results. */
  readonly openCalls: readonly PlaygroundCall[];
  say(turn: PlaygroundTurn): Promise<void>;
  /** Sends the conversation again, without the newest answer. */
  resend(): Promise<void>;
  /** Drops a turn and all turns after it. */
  dropFrom(index: number): void;
  /** Sends the results of the newest answer's tool calls. */
  giveResults(results: readonly { readonly call: PlaygroundCall; readonly output: string }[]): Promise<void>;
  stop(): void;
  clear(): void;
  /** Replaces the conversation, so that another model answers the same one. */
  replaceTurns(turns: readonly PlaygroundTurn[]): void;
}

const PROPOSED: PlaygroundTurn = { role: "user", text: "Hello!" };

/** The turns without the answers at their end. */
const withoutAnswer = (turns: readonly PlaygroundTurn[]): readonly PlaygroundTurn[] =>
  turns.slice(0, turns.findLastIndex(({ role }) => role !== "assistant") + 1);

export function useConversation(
  choices: Choices,
  model: string,
  initialTurns: readonly PlaygroundTurn[],
  /** The message that is being written; null: none. */
  pending: PlaygroundTurn | null,
): Conversation {
  const [turns, setTurns] = useState(initialTurns);
  const [exchange, setExchange] = useState(NO_EXCHANGE);
  const [running, setRunning] = useState(false);
  const [error, setError] = useState("");
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const dialect = findDialect(choices);
  const headers: Record<string, string> =
    choices.account === "" ? {} : { "x-gateway-target-account": choices.account };
  const isNext = pending !== null && !running && exchange === NO_EXCHANGE;
  const sent = turns.length === 0 ? [PROPOSED] : withoutAnswer(turns);
  const ask = createRequest(choices, model, isNext ? [...turns, pending] : sent);

  const send = async (next: readonly PlaygroundTurn[]) => {
    const problem = findProblem(choices);
    if (problem !== "") return setError(problem);
    const abort = new AbortController();
    controller.current = abort;
    setTurns(next);
    setExchange(NO_EXCHANGE);
    setRunning(true);
    setError("");
    let latest = NO_EXCHANGE;
    try {
      const key = choices.key || (await readFirstKey());
      if (key === "") throw new Error(texts.noKey);
      latest = await streamAnswer(dialect, dialect.buildRequest(createRequest(choices, model, next)), {
        key,
        headers,
        signal: abort.signal,
        onProgress: (progress) => {
          latest = progress;
          setExchange(progress);
        },
      });
    } catch (thrown) {
      if (!abort.signal.aborted) setError(toMessage(thrown));
    }
    setRunning(false);
    const { text, reasoning, calls } = latest.answer;
    if (text !== "" || calls.length > 0)
      setTurns([...next, { role: "assistant", text, reasoning, calls, model }]);
  };
  const reset = (next: readonly PlaygroundTurn[]) => {
    controller.current?.abort();
    setTurns(next);
    setExchange(NO_EXCHANGE);
    setError("");
  };
  const last = turns.at(-1);
  return {
    model,
    turns,
    exchange,
    running,
    error,
    dialect,
    headers,
    ask,
    request: dialect.buildRequest(ask),
    openCalls: !running && last?.role === "assistant" ? last.calls : [],
    say: (turn) => send([...turns, turn]),
    resend: () => send(withoutAnswer(turns)),
    dropFrom: (index) => reset(turns.slice(0, index)),
    giveResults: (results) =>
      send([...turns, ...results.map(({ call, output }) => ({ role: "tool", call, output }) as const)]),
    stop: () => controller.current?.abort(),
    clear: () => reset([]),
    replaceTurns: reset,
  };
}
