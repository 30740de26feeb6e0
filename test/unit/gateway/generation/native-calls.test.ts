import { expect, test, vi } from "vitest";
import { LightAbortController } from "../../../../src/core/http/light-abort-controller.ts";
import { eventBlocks } from "../../../support/fault-body.ts";
import { pass, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { ScriptedUpstream } from "../../../support/scripted-upstream.ts";
import { completionsScript, inOnePiece } from "../../../support/upstream-scripts.ts";

const gateway = useMemoryGateway();

test("a whole answer clears one native timer for all its deadlines, and needs no native signal but its attempt's", async () => {
  const turns = completionsScript({
    turns: (asked) =>
      inOnePiece("chat-completions", asked, { body: eventBlocks("chat-completions", { text: "Hi." }) }),
  });
  const made = await gateway({
    upstream: new ScriptedUpstream(turns),
    env: { PROVIDER_DRIVER: "openai" },
    config: { accounts: [{ token: "key" }] },
  });
  const native = vi.spyOn(LightAbortController.prototype, "signal", "get");
  const intervals = vi.spyOn(globalThis, "setInterval");
  const clears = vi.spyOn(globalThis, "clearTimeout");
  const asked = { model: "gpt-5", messages: [{ role: "user", content: "Hi" }] };
  const answering = made.post("/v1/chat/completions", asked);
  await pass(20);
  expect((await answering).status).toBe(200);
  expect(native).not.toHaveBeenCalled();
  expect(intervals).not.toHaveBeenCalled();
  expect(clears).toHaveBeenCalledOnce();
});
