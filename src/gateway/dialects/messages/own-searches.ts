import { isObject } from "../../../core/encoding/json.ts";
import { getMemberText, setMember } from "../../../core/encoding/json-splice.ts";

/**
 * A search or a citation that the gateway wrote for a provider of another protocol.
 * Anthropic's ids have another alphabet.
 */
const OWN_SEARCH = /"srvtoolu_[\da-f]{24}"|"encrypted_index"\s*:\s*""/;
const OWN_ID = /^srvtoolu_[\da-f]{24}$/;

function isOwnSearch(block: unknown): boolean {
  if (!isObject(block)) return false;
  const { type } = block;
  const id =
    type === "server_tool_use" ? block["id"] : type === "web_search_tool_result" ? block["tool_use_id"] : "";
  return OWN_ID.test(String(id));
}

function withoutOwnCitations(block: unknown): unknown {
  if (!isObject(block) || !Array.isArray(block["citations"])) return block;
  const { citations, ...rest } = block;
  const kept = block["citations"].filter((each) => !isObject(each) || each["encrypted_index"] !== "");
  if (kept.length === block["citations"].length) return block;
  return kept.length === 0 ? rest : { ...rest, citations: kept };
}

function toProviderMessage(message: unknown): unknown[] {
  if (!isObject(message) || message["role"] !== "assistant") return [message];
  const { content } = message;
  if (!Array.isArray(content) || content.length === 0) return [message];
  const kept = content.filter((block) => !isOwnSearch(block)).map(withoutOwnCitations);
  return kept.length === 0 ? [] : [{ ...message, content: kept }];
}

/**
 * Removes the searches and citations that the gateway wrote into earlier answers. Anthropic refuses them, because they have
 * no encrypted content. A request without any keeps its bytes.
 */
export function removeOwnSearches(text: string): string {
  if (!OWN_SEARCH.test(text)) return text;
  const messages: unknown = JSON.parse(getMemberText(text, ["messages"]) ?? "null");
  if (!Array.isArray(messages)) return text;
  return setMember(text, "messages", JSON.stringify(messages.flatMap(toProviderMessage)));
}
