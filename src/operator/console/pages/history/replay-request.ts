import { playgrounds } from "polygate:playgrounds";
import * as z from "zod/mini";
import {
  type Attachment,
  PARAMETER_NAMES,
  type Parameters,
  type PlaygroundCall,
  type PlaygroundDialect,
  type PlaygroundTurn,
} from "../../../../gateway/dialects/playground/types.ts";
import { textField } from "../../api/fields.ts";
import type { HistoryRecord } from "../../api/history.ts";
import type { InitialConversation } from "../../shared/initial-conversation.ts";
import { listLostOptions } from "./lost-options.ts";
import { texts } from "./texts.ts";

const call = z.object({ id: textField, name: textField, arguments: textField });
const message = z.object({
  role: z.string(),
  parts: z._default(
    z.array(z.object({ type: z.string(), text: textField, url: textField, filename: textField })),
    [],
  ),
  reasoning: textField,
  tool_calls: z._default(z.array(call), []),
  call_id: textField,
  name: textField,
});

/** The attachment of a part that has an address. */
function toAttachment(part: {
  readonly type: string;
  readonly url: string;
  readonly filename: string;
}): readonly Attachment[] {
  const { type, url, filename } = part;
  if (url === "" || type === "text") return [];
  const kind = type === "image" ? "image" : "file";
  return [{ kind, name: filename || url, mediaType: "", data: "", url }];
}

/** The request of a record, in the playground's form. */
export interface ReplayRequest extends Omit<InitialConversation, "dialect" | "isSent"> {
  readonly dialect: PlaygroundDialect;
  /** What the request had and this one lacks, as the user reads it. */
  readonly lost: readonly string[];
}

function collectParameters({
  options,
  end_user: user,
}: Pick<HistoryRecord, "options" | "end_user">): Parameters {
  const stored = { ...options, ...(user !== undefined && { user }) };
  const set = PARAMETER_NAMES.filter((name) => stored[name] !== undefined);
  return Object.fromEntries(set.map((name) => [name, stored[name]]));
}

/** Rebuilds the request of a record from the archive, which has no attachments but those with an address. */
export function toReplayRequest(
  record: Pick<
    HistoryRecord,
    "dialect" | "requested_model" | "model" | "stream" | "messages" | "options" | "end_user" | "key"
  >,
): ReplayRequest {
  const parsed = z.array(message).safeParse(record.messages);
  const messages = parsed.success ? parsed.data : [];
  const calls = new Map<string, PlaygroundCall>();
  const turns: PlaygroundTurn[] = [];
  const system: string[] = [];
  let dropped = 0;
  for (const { role, parts, reasoning, tool_calls, call_id, name } of messages) {
    const text = parts.map((part) => part.text).join("");
    const attachments = role === "user" ? parts.flatMap(toAttachment) : [];
    dropped += parts.filter(({ type }) => type !== "text").length - attachments.length;
    if (role === "system") system.push(text);
    else if (role === "assistant") {
      for (const call of tool_calls) calls.set(call.id, call);
      turns.push({ role, text, reasoning, calls: tool_calls });
    } else if (role === "tool") {
      const call = calls.get(call_id) ?? { id: call_id, name, arguments: "{}" };
      turns.push({ role, call, output: text });
    } else turns.push({ role: "user", text, ...(attachments.length > 0 && { attachments }) });
  }
  const dialect = playgrounds.find(({ id }) => id === record.dialect) ?? playgrounds[0];
  return {
    dialect,
    model: record.requested_model || record.model,
    stream: record.stream,
    system: system.join("\n\n"),
    turns,
    tools: record.options?.tools ?? [],
    parameters: collectParameters(record),
    lost: [
      ...(dropped > 0 ? [texts.attachments(dropped)] : []),
      ...listLostOptions(record, dialect),
      ...(record.key === "" ? [] : [texts.itsKey]),
    ],
  };
}
