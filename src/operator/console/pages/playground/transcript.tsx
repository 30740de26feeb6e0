import type { PlaygroundCall, PlaygroundTurn } from "../../../../gateway/dialects/playground/types.ts";
import { formatDuration, formatPlural } from "../../ui/format.ts";
import { Problem } from "../../ui/problem.tsx";
import type { Answer } from "./conversation.ts";
import type { Conversation } from "./use-conversation.ts";

/** Shows the conversation, including the answer that is being received. */
export function Transcript({ conversation }: { readonly conversation: Conversation }) {
  const { turns, exchange, running, error } = conversation;
  const { answer } = exchange;
  return (
    <>
      {turns.length === 0 && (
        <p class="muted">
          No messages yet. The development provider repeats what you write; “use the tool get_weather for
          Paris” makes it call a tool.
        </p>
      )}
      <ol class="transcript">
        {turns.map((turn, index) => (
          <TurnView key={`${index} ${turn.role}`} turn={turn} />
        ))}
        {running && (
          <li class="turn assistant" aria-busy="true">
            <AnswerView {...answer} open />
          </li>
        )}
      </ol>
      <Problem error={answer.error} />
      <Problem error={error} />
      <p class="muted tabular talk-foot" role="status">
        {running && exchange.firstToken === null && "Waiting for the first token…"}
        {exchange.firstToken !== null && `First token after ${formatDuration(exchange.firstToken)}`}
        {!running && exchange.firstToken !== null && `, done after ${formatDuration(exchange.elapsed)}`}
        {answer.usage !== null &&
          `, ${formatPlural(answer.usage.input, "token")} in, ${formatPlural(answer.usage.output, "token")} out`}
      </p>
    </>
  );
}

function TurnView({ turn }: { readonly turn: PlaygroundTurn }) {
  if (turn.role === "user") return <li class="turn user">{turn.text}</li>;
  if (turn.role === "tool") {
    return (
      <li class="turn tool">
        <span class="muted">Result of {turn.call.name}</span>
        <pre>{turn.output || "(empty)"}</pre>
      </li>
    );
  }
  return (
    <li class="turn assistant">
      <AnswerView {...turn} open={false} />
    </li>
  );
}

interface AnswerViewProps extends Pick<Answer, "text" | "reasoning" | "calls"> {
  /** Whether the reasoning is expanded. */
  readonly open: boolean;
}

function AnswerView({ text, reasoning, calls, open }: AnswerViewProps) {
  return (
    <>
      {reasoning !== "" && (
        <details class="reasoning" open={open}>
          <summary>Reasoning</summary>
          <p>{reasoning}</p>
        </details>
      )}
      {text !== "" && <p class="said">{text}</p>}
      {calls.map((call) => (
        <CallView key={call.id} call={call} />
      ))}
    </>
  );
}

function CallView({ call }: { readonly call: PlaygroundCall }) {
  return (
    <div class="call">
      <span>
        Calls <strong>{call.name}</strong>
      </span>
      <pre>{call.arguments}</pre>
    </div>
  );
}
