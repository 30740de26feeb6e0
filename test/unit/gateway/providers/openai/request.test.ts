import { expect, it } from "vitest";
import type { Part } from "../../../../../src/core/conversation/conversation.ts";
import { conversation, prepareOptions } from "../support.ts";
import { provider, request, text, user } from "./fake.ts";

/** What only this protocol has. What every driver must send is tested in `../requests.test.ts`. */

it("a request is estimated from the reasoning that callers send back, too", () => {
  const messages = [
    { role: "assistant", parts: [text("Hm")], reasoning: "REASON", toolCalls: [] } as const,
    user("Go on"),
  ];
  expect(provider().prepare(conversation({ messages }), prepareOptions()).promptText).toContain("REASON");
});

it("a link to a file is sent as a file although it leads to an image", async () => {
  const link: Part = { type: "file", source: { kind: "url", url: "https://files.example/x" } };
  const fetchAttachment = async () => ({ bytes: Uint8Array.of(1), mediaType: "image/png" });
  expect(await request({ messages: [user(link)] }, { fetchAttachment })).toMatchObject({
    messages: [{ content: [{ type: "file" }] }],
  });
});
