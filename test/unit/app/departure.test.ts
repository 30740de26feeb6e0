import { describe, expect, it } from "vitest";
import { handleRequest } from "../../../src/app.ts";
import { pass, useMemoryGateway } from "../../support/memory-gateway.ts";
import { KEY } from "../../support/memory-platform.ts";
import type { Reply } from "../../support/scripted-upstream.ts";
import { says } from "../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

/** Asks for an answer that hangs, or one that comes. Resolves with it, and with what the platform was asked to wait for. */
async function ask(turn: Reply, signal: AbortSignal, whileItRuns = () => {}) {
  const gateway = await createGateway({ turns: [turn] });
  const work: Promise<unknown>[] = [];
  const request = new Request("http://gateway.test/v1/chat/completions", {
    method: "POST",
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "provider-v4-flash", messages: [{ role: "user", content: "Hello" }] }),
    signal,
  });
  const answer = handleRequest(request, {
    platform: gateway.platform,
    waitUntil: (some) => {
      work.push(some);
      gateway.waitUntil(some);
    },
    clientAddress: "192.0.2.1",
  });
  await pass(100);
  whileItRuns();
  await pass(100);
  const response = await answer;
  await gateway.settle();
  return { response, waitedFor: await Promise.all(work) };
}

describe("the platform waits for an answer", () => {
  it("if its client leaves before it is complete", async () => {
    const client = new AbortController();
    const { response, waitedFor } = await ask("hang", client.signal, () => client.abort());
    expect(response.status).toBe(499);
    expect(waitedFor).toContain(response);
  });

  it("if its client has left already", async () => {
    const { response, waitedFor } = await ask("hang", AbortSignal.abort());
    expect(response.status).toBe(499);
    expect(waitedFor).toContain(response);
  });

  it("but not if its client stays", async () => {
    const { response, waitedFor } = await ask(says("Hello"), new AbortController().signal);
    expect(response.status).toBe(200);
    expect(waitedFor).not.toContain(response);
  });
});
