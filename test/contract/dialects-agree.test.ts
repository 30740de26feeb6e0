import { describe, expect, it } from "vitest";
import {
  COMPLETIONS_CLIENT,
  DIALECT_CLIENTS,
  type DialectClient,
  type DialectConversation,
  isPrompt,
} from "../support/dialect-clients.ts";
import { DIALECT_CONVERSATIONS } from "../support/dialect-conversations.ts";
import { useGateway } from "../support/use-gateway.ts";

/** Long enough for a busy machine to say the next word within. */
const api = useGateway({ vars: { IDLE_TIMEOUT_MS: "1000" } });

async function ask(client: DialectClient, conversation: DialectConversation, stream: boolean) {
  const response = await client.send(api, conversation, stream);
  const text = await response.text();
  expect(response.status, text).toBe(200);
  const completion = stream ? client.streamed(text) : client.whole(JSON.parse(text));
  return { completion, turn: await api.gateway.sandbox.lastTurn() };
}

describe("all dialects give the same result", () => {
  it.each(Object.entries(DIALECT_CONVERSATIONS))("%s", async (_, conversation) => {
    const [chat, ...others] = DIALECT_CLIENTS;
    if (chat === undefined) throw new Error("there is no dialect");
    const expected = await ask(chat, conversation, true);
    expect(expected.completion.error).toBeNull();
    const whole = await ask(chat, conversation, false);
    // Beside calls a chat completion has no text (docs/contract/answers.md, Chat completion); its stream passes it through.
    const silent = whole.completion.toolCalls.length > 0 ? { text: expected.completion.text } : {};
    expect({ ...whole.completion, ...silent }).toEqual(expected.completion);
    for (const client of others) {
      for (const stream of [true, false]) {
        const given = await ask(client, conversation, stream);
        expect(given.turn.prompt, client.name).toBe(expected.turn.prompt);
        expect(given.completion, `${client.name}, stream: ${stream}`).toEqual(expected.completion);
      }
    }
  });
});

describe("a completion of a prompt equals the answer to a question", () => {
  it.each(Object.entries(DIALECT_CONVERSATIONS).filter(([, conversation]) => isPrompt(conversation)))(
    "%s",
    async (_, conversation) => {
      const [chat] = DIALECT_CLIENTS;
      if (chat === undefined) throw new Error("there is no dialect");
      const { text, toolCalls, finish, error } = (await ask(chat, conversation, false)).completion;
      for (const stream of [true, false]) {
        const { completion } = await ask(COMPLETIONS_CLIENT, conversation, stream);
        expect(completion, `stream: ${stream}`).toMatchObject({
          text,
          reasoning: "",
          toolCalls,
          finish,
          error,
        });
      }
    },
  );
});

describe("no dialect reports a failure as success", () => {
  it.each(["[[cut:6]]", "[[reset:6]]", "[[garbage:6]]", "[[error:server_error:6]]", "[[hang:6]]"])(
    "%s in mid-stream",
    async (fault) => {
      const conversation = { steps: [{ user: `[[big:400]][[chunk:20]]${fault}` }] };
      for (const client of [...DIALECT_CLIENTS, COMPLETIONS_CLIENT]) {
        const [streamed, whole] = await Promise.all(
          [true, false].map(async (stream) => {
            const response = await client.send(api, conversation, stream);
            return { status: response.status, text: await response.text() };
          }),
        );
        expect(client.streamed(streamed?.text ?? ""), client.name).toMatchObject({
          error: expect.any(String),
          finish: null,
          usage: null,
        });
        expect(whole?.status, client.name).toBe(503);
      }
    },
    60_000,
  );
});
