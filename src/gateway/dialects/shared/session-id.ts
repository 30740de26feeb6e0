import type { Conversation } from "../../../core/conversation/conversation.ts";
import type { JsonObject } from "../../../core/encoding/json.ts";
import { findSessionId } from "../../generation/preparation/conversation-key.ts";

/** The member of a conversation for the session that its request's body names. */
export function readSessionId(body: JsonObject): Pick<Conversation, "sessionId"> {
  const sessionId = findSessionId(body);
  return sessionId === undefined ? {} : { sessionId };
}
