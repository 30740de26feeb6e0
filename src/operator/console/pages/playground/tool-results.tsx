import { useState } from "preact/hooks";
import type { PlaygroundCall } from "../../../../gateway/dialects/playground/types.ts";
import { Button } from "../../ui/button.tsx";
import { AreaField } from "../../ui/forms/field.tsx";
import { texts } from "./texts.ts";
import type { Conversation } from "./use-conversation.ts";

interface ToolResultsProps {
  readonly calls: readonly PlaygroundCall[];
  readonly onGive: Conversation["giveResults"];
}

/** Form in which the user enters the results of the model's tool calls. */
export function ToolResults({ calls, onGive }: ToolResultsProps) {
  const [outputs, setOutputs] = useState<ReadonlyMap<string, string>>(new Map());
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onGive(calls.map((call) => ({ call, output: outputs.get(call.id) ?? "" })));
      }}
    >
      {calls.map((call) => (
        <AreaField
          key={call.id}
          label={texts.result(call.name)}
          value={outputs.get(call.id) ?? ""}
          onChange={(output) => setOutputs((before) => new Map(before).set(call.id, output))}
          rows={2}
          mono
          placeholder='{"temperature": 21}'
        />
      ))}
      <div>
        <Button kind="primary" type="submit">
          {calls.length === 1 ? texts.sendResult : texts.sendResults}
        </Button>
      </div>
    </form>
  );
}
