import { describe, expect, it } from "vitest";
import type { Part } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, FakeUpstream, neverAborted, prepareOptions, readTurn, utf8 } from "../support.ts";
import { provider, request, user, whole } from "./fake.ts";

/** What only this protocol has. What every driver must send is tested in `../requests.test.ts`. */

describe("a request for contents", () => {
  it("is not streamed for a whole answer", async () => {
    const fake = new FakeUpstream(
      () => new Response(whole("tools"), { headers: { "content-type": "application/json" } }),
    );
    const prepared = provider().prepare(conversation({ stream: false }), prepareOptions());
    await readTurn(await prepared.open(fake.account, neverAborted(), null));
    expect(fake.only("/v1beta/models/provider-v4-flash:generateContent").json()).not.toHaveProperty("stream");
  });

  it("leaves out empty stop sequences", async () => {
    const body = await request({ options: { stop: ["x", ""] } });
    expect(body["generationConfig"]).toMatchObject({ stopSequences: ["x"] });
  });

  it("has the smallest budget for the effort minimal", async () => {
    const body = await request({ thinking: true, options: { reasoningEffort: "minimal" } });
    expect(body["generationConfig"]).toEqual({
      thinkingConfig: { includeThoughts: true, thinkingBudget: 1024 },
    });
  });

  it("states the real type of attachments", async () => {
    const inline = (type: "image" | "file", mediaType: string, data: string): Part => ({
      type,
      source: { kind: "inline", data, mediaType },
    });
    const parts = [
      inline("image", "image/jpeg", "iVBORw0KGgo="),
      inline("file", "application/octet-stream", btoa("%PDF-1.7")),
      inline("file", "audio/wav", btoa("RIFF0000WAVEfmt ")),
      { type: "file", source: { kind: "url", url: "https://files.example/a.mp3" } } as const,
    ];
    const body = await request(
      { messages: [user(...parts)] },
      { fetchAttachment: async () => ({ bytes: utf8("ID3"), mediaType: "audio/mpeg" }) },
    );
    const blob = (mimeType: string, text: string) => ({ inlineData: { mimeType, data: text } });
    expect(body["contents"]).toEqual([
      {
        role: "user",
        parts: [
          blob("image/png", "iVBORw0KGgo="),
          blob("application/pdf", btoa("%PDF-1.7")),
          blob("audio/wav", btoa("RIFF0000WAVEfmt ")),
          blob("audio/mpeg", "SUQz"),
        ],
      },
    ]);
  });
});
