import type { Message, ToolCall } from "../../../../src/core/conversation/conversation.ts";
import type { ProviderErrorKind } from "../../../../src/core/errors/provider-error.ts";
import type { ConversationChanges } from "../../../support/conversations.ts";
import type { keyed } from "./keyed.ts";
import { eventStream, FakeUpstream, result, text, user } from "./support.ts";

type Body = Record<string, unknown>;

/** A member or value of requests that some models refuse. */
export interface Refusal {
  readonly what: string;
  /** The conversation whose request has it. */
  readonly changes: ConversationChanges;
  /** The message with which the model refuses a request; undefined: it answers. */
  judge(body: Body): string | undefined;
  /** What the request has instead; empty: nothing. */
  readonly instead: object;
}

/** How a backend refuses and fails: the wire data for `drivers.test.ts`. */
export interface DriverRow {
  readonly name: string;
  readonly keyed: ReturnType<typeof keyed>;
  /** The backend's answer to a request that it takes for wrong. */
  refuse(message: string): Response;
  readonly refusals: readonly Refusal[];
  /** Refusals that the caller must see, because without the member the answer would be another. */
  readonly believed: readonly (readonly [changes: ConversationChanges, message: string])[];
  /** Answers without success, and the kind of failure that they are. */
  readonly failures: readonly (readonly [status: number, body: unknown, kind: ProviderErrorKind])[];
  /** Null: the backend wants no reasoning back. */
  readonly thoughts: Thoughts | null;
}

/** The reasoning before tool calls that the backend wants back with their results. */
interface Thoughts {
  /** An answer with reasoning and two calls, streamed. */
  readonly stream: string;
  /** The same answer in one piece. Null: answers with calls are always streamed. */
  readonly whole: string | null;
  readonly calls: readonly [ToolCall, ToolCall];
  /** The members of a request that may have reasoning. */
  sentIn(body: Body): unknown;
  /** What they are if the reasoning goes back. */
  readonly known: unknown;
  /** What they are if the gateway does not know the reasoning. */
  readonly unknown: unknown;
  /** What they are in a request that does not ask for reasoning. */
  readonly quiet: unknown;
  /** What they are after the backend refused reasoning that was sealed by somebody else. */
  readonly foreign: unknown;
  /** A part of the reasoning, by which a test knows it. */
  readonly seal: string;
  /** The answer to such reasoning. */
  refuseForeign(): Response;
}

/** The conversation that goes on behind the calls. */
export const answeredCalls = ([first, second]: readonly [ToolCall, ToolCall]): readonly Message[] => [
  user("Weather?"),
  { role: "assistant", parts: [text("Let me look.")], toolCalls: [first, second] },
  result(first.id, "cold"),
  result(second.id, "late"),
];

/** A model that refuses what `judge` refuses, in the words of the real service, and answers all else. */
export const refusingModel = ({ keyed, refuse }: DriverRow, judge: Refusal["judge"]): FakeUpstream =>
  new FakeUpstream((request) => {
    const why = judge(request.json());
    return why === undefined ? eventStream(keyed.answer) : refuse(why);
  });
