import type { Config } from "../../../core/config/schema.ts";
import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { Context } from "../../../core/ports/context.ts";
import type { PrepareOptions } from "../../providers/provider.ts";
import { AttachmentFetcher } from "./attachment-fetcher.ts";

/** Appended to the last user message while thinking is on. The configuration may replace it. */
export const DEFAULT_THINKING_PROMPT =
  "Think the task through before you answer. Keep your reasoning apart from the answer: the visible reply holds only " +
  "the final answer or the tool calls, and it is never empty.";

/** The configuration's settings that shape a prompt. */
export function createPrepareOptions(
  config: Config,
  conversation: Conversation,
  { platform, memory: reservation }: Pick<Context, "platform" | "memory">,
): PrepareOptions {
  const { thinking_injection: injection, current_input_file: inputFile } = config;
  const fetcher = new AttachmentFetcher(platform, conversation.contentField, reservation);
  return {
    thinkingInjection:
      conversation.thinking && injection.enabled ? injection.prompt.trim() || DEFAULT_THINKING_PROMPT : null,
    inputFileMinChars: inputFile.enabled ? inputFile.min_chars : null,
    fetchAttachment: (url, signal) => fetcher.fetch(url, signal),
  };
}
