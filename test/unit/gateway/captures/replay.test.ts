import { describe, expect, it } from "vitest";
import type { Sample } from "../../../../src/core/ports/captures.ts";
import { replaySample } from "../../../../src/gateway/captures/replay.ts";

function sample(provider: string, texts: readonly string[], contentType = "text/event-stream"): Sample {
  return {
    meta: {
      sample_id: "s",
      saved_at: 0,
      provider,
      chain_key: "c",
      rounds: texts.map((text, index) => ({
        capture_id: `c${index}`,
        label: "completion",
        status: 200,
        content_type: contentType,
        outcome: "complete",
        request_body: "",
        length: text.length,
      })),
    },
    upstream: texts.join(""),
  };
}

describe("replaying a sample", () => {
  it("decodes each round separately, for any split of the bytes", () => {
    const rounds = ["ä", "ö"].map(
      (text) =>
        `event: start\ndata: {"message_id":"m"}\n\nevent: text\ndata: {"text":"${text}"}\n\nevent: finish\ndata: {"reason":"stop"}\n\n`,
    );
    const whole = replaySample(sample("sessions", rounds));
    expect(whole.map(({ events }) => events.map((event) => event.type))).toEqual([
      ["start", "text", "finish"],
      ["start", "text", "finish"],
    ]);
    expect(replaySample(sample("sessions", rounds), 1)).toEqual(whole);
  });

  it("decodes a sample whose driver had an earlier name when it was saved", () => {
    const texts = ['{"content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}'];
    const [old, today] = ["messages", "anthropic"].map((name) =>
      replaySample(sample(name, texts, "application/json")),
    );
    expect(old?.[0]?.events).toContainEqual({ type: "text", text: "Hi" });
    expect(old).toEqual(today);
  });

  it("shows how a broken stream ends", () => {
    const [round] = replaySample(sample("sessions", ['event: text\ndata: {"text":"a"}\n\n']));
    expect(round?.events).toEqual([{ type: "text", text: "a" }]);
    expect(round?.failure?.kind).toBe("cut");
  });

  it("decodes the answer of a chat-completions backend, streamed or whole", () => {
    const streamed =
      'data: {"choices":[{"delta":{"content":"hi"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n';
    const whole = '{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}';
    for (const replayed of [
      replaySample(sample("openai", [streamed])),
      replaySample(sample("openai", [whole], "application/json")),
    ]) {
      expect(replayed[0]?.events).toContainEqual({ type: "text", text: "hi" });
      expect(replayed[0]?.failure).toBeNull();
    }
  });
});
