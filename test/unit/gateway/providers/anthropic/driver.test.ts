import { describe, expect, it } from "vitest";
import { anthropicDriver } from "../../../../../src/gateway/providers/anthropic/driver.ts";
import type { ConversationChanges } from "../../../../support/conversations.ts";
import { answeredCalls, type Refusal, refusingModel } from "../driver-row.ts";
import { ask, assistant, decode, eventStream, FakeUpstream } from "../support.ts";
import { anthropicDriverRow, CALLS } from "./driver-row.ts";
import { provider, stream, user, WEATHER } from "./fake.ts";

/** What only this protocol has. What every driver must do is tested in `../drivers.test.ts`. */

const picky = (judge: Refusal["judge"]) => refusingModel(anthropicDriverRow, judge);

describe("a model that refuses what others know", () => {
  it("and always thinks still gets the thinking settings", async () => {
    const fake = picky((request) =>
      Object(request["thinking"]).type === "disabled"
        ? '"thinking.type.disabled" is not supported for this model.'
        : undefined,
    );
    const driver = provider();
    await ask(driver, fake, { thinking: false });
    expect(await ask(driver, fake, { thinking: true })).toMatchObject({ thinking: { type: "enabled" } });
    expect(fake.seen.length).toBe(3);
  });

  it("and has a limit of its own gets no more, thinking included", async () => {
    const limited = (longest: number) =>
      picky((request) =>
        Number(request["max_tokens"]) > longest
          ? `max_tokens: ${request["max_tokens"]} > ${longest}, which is the maximum allowed number of output tokens for m`
          : undefined,
      );
    expect(await ask(provider(), limited(8192), { thinking: true })).toMatchObject({
      max_tokens: 8192,
      thinking: { type: "enabled", budget_tokens: 4096 },
    });
    const driver = provider();
    const fake = limited(1000);
    expect(await ask(driver, fake, { thinking: true })).toMatchObject({
      max_tokens: 1000,
      thinking: { type: "disabled" },
    });
    expect(await ask(driver, fake, { options: { maxTokens: 7 } })).toMatchObject({ max_tokens: 7 });
    expect(fake.seen.length).toBe(3);
  });
});

describe("thoughts", () => {
  const asked: ConversationChanges = { thinking: true, tools: [WEATHER] };
  const answered = answeredCalls(CALLS);
  const upstream = () => new FakeUpstream(() => eventStream(stream("tools")));
  const thinkingOf = ({ thinking, messages: sent }: Record<string, unknown>) => ({
    thinking: Object(thinking).type,
    types: Object(sent)[1].content.map(({ type }: { type: string }) => type),
  });
  const OFF = { thinking: "disabled", types: ["text", "tool_use", "tool_use"] };

  it("may be kept in the next question", async () => {
    const driver = provider();
    await ask(driver, upstream(), asked);
    const messages = [...answered, assistant("Cold."), user("And now?")];
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages }))).toEqual({
      thinking: "enabled",
      types: ["thinking", "redacted_thinking", "text", "tool_use", "tool_use"],
    });
  });

  it("do not start between calls, but with the next question", async () => {
    const driver = provider();
    await ask(driver, upstream(), { ...asked, thinking: false });
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages: answered }))).toEqual(OFF);
    const messages = [...answered, assistant("Cold."), user("Why?")];
    expect(thinkingOf(await ask(driver, upstream(), { ...asked, messages }))).toEqual({
      ...OFF,
      thinking: "enabled",
    });
  });

  it("are not required for a model without budgets", async () => {
    const driver = provider();
    const fake = picky((request) =>
      Object(request["thinking"]).type === "enabled"
        ? '"thinking.type.enabled" is not supported.'
        : undefined,
    );
    await ask(driver, fake, asked);
    expect(thinkingOf(await ask(driver, fake, { ...asked, messages: answered }))).toEqual({
      ...OFF,
      thinking: "adaptive",
    });
  });
});

describe("a captured answer", () => {
  it("that is whole gets an id for a call without one when it is decoded again", () => {
    const whole = '{"content":[{"type":"tool_use","name":"f","input":{}}],"stop_reason":"tool_use"}';
    const { events } = decode(anthropicDriver.createCaptureDecoder("application/json"), [whole]);
    expect(events).toContainEqual({ type: "tool-call", index: 0, id: "toolu_replayed2", name: "f" });
  });
});
