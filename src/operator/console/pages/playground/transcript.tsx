import type { PlaygroundCall, PlaygroundTurn } from "../../../../gateway/dialects/playground/types.ts";
import { Button } from "../../ui/button.tsx";
import { formatDuration } from "../../ui/format.ts";
import { Problem } from "../../ui/loading/problem.tsx";
import { words } from "../../ui/words.ts";
import { AttachmentList } from "./attachment-list.tsx";
import type { Answer } from "./conversation.ts";
import { texts } from "./texts.ts";
import type { Conversation } from "./use-conversation.ts";

interface TranscriptProps {
  readonly conversation: Conversation;
  /** What can be tried; empty: nothing special. */
  readonly hint: string;
  /** Takes a message back, for editing. */
  readonly onEdit: (index: number) => void;
}

/** Shows the conversation, including the answer that is being received. */
export function Transcript({ conversation, hint, onEdit }: TranscriptProps) {
  const { turns, exchange, running, error } = conversation;
  const { answer } = exchange;
  return (
    <>
      {turns.length === 0 && <p class="muted">{`${texts.noMessagesYet} ${hint}`}</p>}
      <ol class="transcript">
        {turns.map((turn, index) => (
          <TurnView
            key={`${index} ${turn.role}`}
            turn={turn}
            model={conversation.model}
            onEdit={() => onEdit(index)}
          />
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
        {running && exchange.firstToken === null && texts.waitingForFirstToken}
        {exchange.firstToken !== null && texts.firstTokenAfter(formatDuration(exchange.firstToken))}
        {!running && exchange.firstToken !== null && texts.doneAfter(formatDuration(exchange.elapsed))}
        {answer.usage !== null &&
          texts.inOut(texts.tokenCount(answer.usage.input), texts.tokenCount(answer.usage.output))}
      </p>
    </>
  );
}

interface TurnViewProps {
  readonly turn: PlaygroundTurn;
  /** The model of the conversation now. */
  readonly model: string;
  readonly onEdit: () => void;
}

function TurnView({ turn, model, onEdit }: TurnViewProps) {
  if (turn.role === "user") {
    return (
      <li class="turn user">
        <span>{turn.text}</span>
        <AttachmentList attachments={turn.attachments ?? []} />
        <Button kind="quiet" title={texts.editMessage} onClick={onEdit}>
          {words.edit}
        </Button>
      </li>
    );
  }
  if (turn.role === "tool") {
    return (
      <li class="turn tool">
        <span class="muted">{texts.result(turn.call.name)}</span>
        <pre>{turn.output || texts.empty}</pre>
      </li>
    );
  }
  return (
    <li class="turn assistant">
      {turn.model !== undefined && turn.model !== model && (
        <span class="muted">{texts.answerOf(turn.model)}</span>
      )}
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
          <summary>{texts.reasoning}</summary>
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
      <span>{texts.calls(<strong>{call.name}</strong>)}</span>
      <pre>{call.arguments}</pre>
    </div>
  );
}
