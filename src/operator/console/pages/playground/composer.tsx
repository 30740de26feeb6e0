import { useState } from "preact/hooks";
import type { PlaygroundCall } from "../../../../gateway/dialects/playground/types.ts";
import { Button } from "../../ui/button.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
import { words } from "../../ui/words.ts";
import { texts } from "./texts.ts";
import { ToolResults } from "./tool-results.tsx";
import type { Conversation } from "./use-conversation.ts";

/** Returns the tool calls of the newest answer, which still need results. */
function openCalls({ turns, running }: Conversation): readonly PlaygroundCall[] {
  const last = turns.at(-1);
  return !running && last?.role === "assistant" ? last.calls : [];
}

/** Input for a message, or for the results of tool calls. */
export function Composer({ conversation }: { readonly conversation: Conversation }) {
  const [text, setText] = useState("");
  const { running, turns } = conversation;
  const calls = openCalls(conversation);
  const send = () => {
    if (text.trim() === "" || running) return;
    void conversation.say(text);
    setText("");
  };
  return (
    <div class="composer">
      <LeaveGuard unsaved={text.trim() === "" ? "" : texts.messageWasNotSent} />
      {calls.length > 0 && <ToolResults calls={calls} onGive={conversation.giveResults} />}
      {calls.length === 0 && (
        <textarea
          aria-label={words.message}
          rows={3}
          placeholder={texts.saySomethingEnterSendsShift}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
      )}
      <div class="actions">
        {calls.length === 0 && !running && (
          <Button kind="primary" disabled={text.trim() === ""} onClick={send}>
            {texts.send}
          </Button>
        )}
        {running && <Button onClick={conversation.stop}>{texts.stop}</Button>}
        {turns.length > 0 && (
          <Button kind="quiet" onClick={conversation.clear}>
            {texts.startOver}
          </Button>
        )}
      </div>
    </div>
  );
}
