import { expect, it, vi } from "vitest";
import { useMemoryGateway } from "../../support/memory-gateway.ts";
import { says } from "../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const CHAT = { model: "provider-v4-flash", messages: [{ role: "user", content: "Hello?" }] };

it("a log sample of 0 logs only failed requests, while the history has all", async () => {
  const logged = vi.spyOn(console, "log").mockImplementation(() => undefined);
  const gateway = await createGateway({ turns: [says("Hi")], config: { log: { sample: 0 } } });
  await (await gateway.post("/v1/chat/completions", CHAT)).text();
  expect(logged).not.toHaveBeenCalled();
  await (await gateway.post("/v1/chat/completions", { ...CHAT, model: "none" })).text();
  expect(logged).toHaveBeenCalledOnce();
  logged.mockRestore();
  const history = await gateway.history();
  expect(history.filter(({ refusals }) => refusals === undefined)).toMatchObject([{ status: "success" }]);
});
