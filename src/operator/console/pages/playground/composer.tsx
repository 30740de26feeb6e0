import { useState } from "preact/hooks";
import type { PlaygroundCall } from "../../../../gateway/dialects/playground/types.ts";
import { Button } from "../../ui/button.tsx";
import { LeaveGuard } from "../../ui/leave-guard.tsx";
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
      <LeaveGuard unsaved={text.trim() === "" ? "" : "a message that was not sent"} />
      {calls.length > 0 && <ToolResults calls={calls} onGive={conversation.giveResults} />}
      {calls.length === 0 && (
        <textarea
          aria-label="Message"
          rows={3}
          placeholder="Say something. Enter sends, Shift and Enter begins a new line."
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
            Send
          </Button>
        )}
        {running && <Button onClick={conversation.stop}>Stop</Button>}
        {turns.length > 0 && (
          <Button kind="quiet" onClick={conversation.clear}>
            Start over
          </Button>
        )}
      </div>
    </div>
  );
}
