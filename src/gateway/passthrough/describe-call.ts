import type { Conversation } from "../../core/conversation/conversation.ts";
import type { ResolvedModel } from "../../core/conversation/model.ts";
import type { PassthroughCall } from "./passthrough-call.ts";
import { PASSTHROUGH_STYLE, type Target } from "./targets.ts";

const NO_MODEL: ResolvedModel = {
  id: "",
  upstream: "",
  requested: "",
  thinking: false,
  search: false,
  vision: false,
};

/** Describes a request as the history shows it: the body as the user's message. */
export function describeCall(
  { description, stream }: Pick<PassthroughCall, "description" | "stream">,
  target: Target,
): Conversation {
  return {
    dialect: PASSTHROUGH_STYLE,
    contentField: "body",
    model: target ?? NO_MODEL,
    messages: [{ role: "user", parts: [{ type: "text", text: description }] }],
    tools: [],
    toolChoice: { type: "auto" },
    parallelToolCalls: false,
    thinking: false,
    showReasoning: false,
    options: {},
    responseFormat: { type: "text" },
    stream,
  };
}
