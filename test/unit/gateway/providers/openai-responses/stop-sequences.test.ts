import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ProviderEvent } from "../../../../../src/gateway/providers/answers/provider-events.ts";
import { cutAtStopSequence } from "../../../../../src/gateway/providers/openai-responses/stop-sequences.ts";
import {
  conversation,
  eventStream,
  FakeUpstream,
  neverAborted,
  prepareOptions,
  textOfEvents,
} from "../support.ts";
import { provider } from "./fake.ts";
import { event } from "./stream.ts";

const END: ProviderEvent[] = [
  { type: "usage", usage: { prompt: 1, completion: 2 } },
  { type: "finish", reason: "stop" },
];
const says = (...texts: string[]): ProviderEvent[] => [
  ...texts.map((text): ProviderEvent => ({ type: "text", text })),
  ...END,
];

describe("an answer with stop sequences, from a protocol that has none", () => {
  it("is not ended by the blank line between two texts", () => {
    const between: ProviderEvent = { type: "text", text: "\n\n", isSeparator: true };
    const events: ProviderEvent[] = [
      { type: "text", text: "One.\n" },
      between,
      { type: "text", text: "Two." },
      ...END,
    ];
    expect(cutAtStopSequence(events, ["\n\n", "\nT"])).toEqual([
      { type: "text", text: "One." },
      { type: "text", text: "\n" },
      ...events.slice(1),
    ]);
  });

  it("ends before the first of them, and names it", () => {
    expect(cutAtStopSequence(says("One, ", "two. E", "N", "D three STOP"), ["STOP", "END"])).toEqual([
      { type: "text", text: "One, " },
      { type: "text", text: "two. " },
      ...END.slice(0, 1),
      { type: "finish", reason: "stop", stopSequence: "END" },
    ]);
  });

  it("ends before the one that is complete first", () => {
    for (const texts of [["aca"], ["ac", "a"], ["a", "c", "a"]]) {
      expect(textOfEvents(cutAtStopSequence(says(...texts), ["aca", "c"]), "text")).toBe("a");
    }
  });

  it("is whole without a complete one", () => {
    const events = cutAtStopSequence(says("The E", "N", "ergy EN"), ["END"]);
    expect(textOfEvents(events, "text")).toBe("The ENergy EN");
    expect(events.slice(-2)).toEqual(END);
  });

  it("makes no calls after one", () => {
    const call: ProviderEvent = { type: "tool-call", index: 0, id: "a", name: "f" };
    expect(cutAtStopSequence([{ type: "text", text: "x END" }, call, ...END], ["END"])).not.toContainEqual(
      call,
    );
  });

  it("is the same for any split", () => {
    const letters = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 30 });
    const stop = fc.string({ unit: fc.constantFrom("a", "b", "c"), minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(letters), fc.array(stop, { minLength: 1, maxLength: 3 }), (texts, stops) => {
        const entire = texts.join("");
        const found = stops.filter((one) => entire.includes(one));
        const complete = Math.min(...found.map((one) => entire.indexOf(one) + one.length));
        const places = found
          .map((one) => entire.indexOf(one))
          .filter((at, n) => at + (found[n]?.length ?? 0) === complete);
        const expected = entire.slice(0, Math.min(entire.length, ...places));
        expect(textOfEvents(cutAtStopSequence(says(...texts), stops), "text")).toBe(expected);
      }),
    );
  });

  it("ends at once after one, streamed", async () => {
    const said = (delta: string) =>
      event("response.output_text.delta", { output_index: 0, content_index: 0, delta });
    const fake = new FakeUpstream(() => eventStream(""));
    const asked = conversation({ stream: true, options: { stop: ["END"] } });
    const turn = await provider().prepare(asked, prepareOptions()).open(fake.account, neverAborted(), null);
    expect(fake.only("/responses").body).not.toContain("END");
    if (!("decoder" in turn)) throw new Error("it does not stream");
    const push = (text: string) => turn.decoder.push(new TextEncoder().encode(text));
    expect(textOfEvents(push(said("One E")), "text")).toBe("One ");
    expect(turn.decoder.ended).toBe(false);
    expect(push(said("ND two"))).toEqual([{ type: "finish", reason: "stop", stopSequence: "END" }]);
    expect(turn.decoder.ended).toBe(true);
    expect([...push(said("three")), ...turn.decoder.finish()]).toEqual([]);
  });
});
