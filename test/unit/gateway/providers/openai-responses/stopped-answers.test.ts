import { expect, it } from "vitest";
import { useMemoryGateway } from "../../../../support/memory-gateway.ts";
import { streamModelAnswer } from "../../../../support/model-answers.ts";
import { ScriptedUpstream } from "../../../../support/scripted-upstream.ts";
import { responsesScript } from "../../../../support/upstream-scripts.ts";

const make = useMemoryGateway();

it.each([true, false])(
  "a stop sequence ends the answer for the caller as well, and is named (stream: %s)",
  async (stream) => {
    const answer = { text: "Hello there, END of it.", end: "stop" } as const;
    const upstream = new ScriptedUpstream(
      responsesScript({ turns: () => streamModelAnswer(answer, "responses", "native") }),
    );
    const env = { PROVIDER_DRIVER: "openai-responses" };
    const gateway = await make({ upstream, env, config: { accounts: [{ token: "key" }] } });
    const body = {
      model: "provider-v4-flash",
      max_tokens: 99,
      stream,
      stop_sequences: ["END"],
      messages: [{ role: "user", content: "Hi" }],
    };
    const text = await (await gateway.post("/v1/messages", body)).text();
    await gateway.settle();
    expect(text).toContain('"stop_reason":"stop_sequence"');
    expect(text).toContain('"stop_sequence":"END"');
    expect(text).not.toContain("of it");
    expect(gateway.upstream.asked.map(({ outcome }) => outcome)).toEqual([stream ? "cancelled" : "done"]);
  },
);
