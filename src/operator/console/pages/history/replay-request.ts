import { playgrounds } from "polygate:playgrounds";
import * as z from "zod/mini";
import type {
  PlaygroundCall,
  PlaygroundDialect,
  PlaygroundTurn,
} from "../../../../gateway/dialects/playground/types.ts";
import { textField } from "../../api/fields.ts";
import type { HistoryRecord } from "../../api/history.ts";

const call = z.object({ id: textField, name: textField, arguments: textField });
const message = z.object({
  role: z.string(),
  parts: z._default(z.array(z.object({ type: z.string(), text: textField })), []),
  reasoning: textField,
  tool_calls: z._default(z.array(call), []),
  call_id: textField,
  name: textField,
});

/** The request of a record, in the playground's form. */
export interface ReplayRequest {
  readonly dialect: PlaygroundDialect;
  readonly model: string;
  readonly stream: boolean;
  readonly system: string;
  readonly turns: readonly PlaygroundTurn[];
  /** Number of attachments that the archive does not contain, so they are missing here. */
  readonly lost: number;
}

/** Rebuilds the request of a record from the archive, without attachments and tool definitions. */
export function toReplayRequest(
  record: Pick<HistoryRecord, "dialect" | "requested_model" | "model" | "stream" | "messages">,
): ReplayRequest {
  const parsed = z.array(message).safeParse(record.messages);
  const messages = parsed.success ? parsed.data : [];
  const calls = new Map<string, PlaygroundCall>();
  const turns: PlaygroundTurn[] = [];
  const system: string[] = [];
  let dropped = 0;
  for (const { role, parts, reasoning, tool_calls, call_id, name } of messages) {
    const text = parts.map((part) => part.text).join("");
    dropped += parts.filter(({ type }) => type !== "text").length;
    if (role === "system") system.push(text);
    else if (role === "assistant") {
      for (const call of tool_calls) calls.set(call.id, call);
      turns.push({ role, text, reasoning, calls: tool_calls });
    } else if (role === "tool") {
      const call = calls.get(call_id) ?? { id: call_id, name, arguments: "{}" };
      turns.push({ role, call, output: text });
    } else turns.push({ role: "user", text });
  }
  return {
    dialect: playgrounds.find(({ id }) => id === record.dialect) ?? playgrounds[0],
    model: record.requested_model || record.model,
    stream: record.stream,
    system: system.join("\n\n"),
    turns,
    lost: dropped,
  };
}
