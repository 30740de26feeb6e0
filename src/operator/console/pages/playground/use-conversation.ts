import { playgrounds } from "polygate:playgrounds";
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
import { takeInitialConversation } from "./initial-conversation.ts";
import { type Exchange, NO_EXCHANGE, streamAnswer } from "./stream-answer.ts";
import { texts } from "./texts.ts";
import { parseTools, SAMPLE_TOOLS } from "./tools.ts";

/** The user's settings. */
export interface Choices {
  readonly dialect: string;
  readonly model: string;
  readonly system: string;
  readonly stream: boolean;
  readonly withTools: boolean;
  readonly tools: string;
  /** Empty: the first configured key. */
  readonly key: string;
  /** Empty: any account. */
  readonly account: string;
}

/** State and actions of the playground. */
export interface Conversation {
  readonly choices: Choices;
  readonly turns: readonly PlaygroundTurn[];
  readonly exchange: Exchange;
  readonly running: boolean;
  readonly error: string;
  readonly dialect: PlaygroundDialect;
  readonly headers: Readonly<Record<string, string>>;
  readonly ask: PlaygroundRequest;
  /** The request of the newest answer, or the next request. */
  readonly request: WireRequest;
  choose(choices: Partial<Choices>): void;
  say(text: string): Promise<void>;
  /** Sends the results of the newest answer's tool calls. */
  giveResults(results: readonly { readonly call: PlaygroundCall; readonly output: string }[]): Promise<void>;
  stop(): void;
  clear(): void;
}

const START: Choices = {
  dialect: playgrounds[0].id,
  model: "provider-v4-flash",
  system: "",
  stream: true,
  withTools: false,
  tools: SAMPLE_TOOLS,
  key: "",
  account: "",
};

const PROPOSED: PlaygroundTurn = { role: "user", text: "Hello!" };

export function useConversation(): Conversation {
  const [initial] = useState(takeInitialConversation);
  const [choices, setChoices] = useState<Choices>(() => {
    if (initial === null) return START;
    const { dialect: id, model, stream, system } = initial;
    return { ...START, dialect: id, model, stream, system };
  });
  const [turns, setTurns] = useState<readonly PlaygroundTurn[]>(initial?.turns ?? []);
  const [exchange, setExchange] = useState(NO_EXCHANGE);
  const [running, setRunning] = useState(false);
  const [error, setError] = useState("");
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);

  const dialect = playgrounds.find(({ id }) => id === choices.dialect) ?? playgrounds[0];
  const { tools, problem } = parseTools(choices.tools);
  const createRequest = (requestTurns: readonly PlaygroundTurn[]): PlaygroundRequest => ({
    model: choices.model,
    system: choices.system,
    stream: choices.stream,
    tools: choices.withTools ? tools : [],
    turns: requestTurns,
  });
  const headers: Record<string, string> =
    choices.account === "" ? {} : { "x-gateway-target-account": choices.account };
  const nextTurns =
    turns.length === 0
      ? [PROPOSED]
      : turns.slice(0, turns.findLastIndex(({ role }) => role !== "assistant") + 1);
  const ask = createRequest(nextTurns);

  const send = async (next: readonly PlaygroundTurn[]) => {
    if (choices.withTools && problem !== "") return setError(problem);
    const abort = new AbortController();
    controller.current = abort;
    setTurns(next);
    setExchange(NO_EXCHANGE);
    setRunning(true);
    setError("");
    let latest = NO_EXCHANGE;
    try {
      const key = choices.key || (await readFirstKey());
      if (key === "") throw new Error(texts.thereNoApiKeyAdd);
      latest = await streamAnswer(dialect, dialect.buildRequest(createRequest(next)), {
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
    if (text !== "" || calls.length > 0) setTurns([...next, { role: "assistant", text, reasoning, calls }]);
  };

  return {
    choices,
    turns,
    exchange,
    running,
    error,
    dialect,
    headers,
    ask,
    request: dialect.buildRequest(ask),
    choose: (next) => setChoices((before) => ({ ...before, ...next })),
    say: (text) => send([...turns, { role: "user", text }]),
    giveResults: (results) =>
      send([...turns, ...results.map(({ call, output }) => ({ role: "tool", call, output }) as const)]),
    stop: () => controller.current?.abort(),
    clear: () => {
      controller.current?.abort();
      setTurns([]);
      setExchange(NO_EXCHANGE);
      setError("");
    },
  };
}
