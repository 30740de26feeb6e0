import { describe, expect, it } from "vitest";
import type { GenerationEvent } from "../../../../../src/core/conversation/events.ts";
import { createFinishEvent } from "../../../../../src/gateway/generation/assembly/answer-checks.ts";
import { Assembler } from "../../../../../src/gateway/generation/assembly/assembler.ts";
import type {
  ProviderEvent,
  ProviderFinish,
} from "../../../../../src/gateway/providers/answers/provider-events.ts";
import { type ConversationChanges, thinkingConversation } from "../../../../support/conversations.ts";

const CALL =
  '<|TCML|tool_calls><|TCML|invoke name="go"><|TCML|parameter name="to">Rome</|TCML|parameter></|TCML|invoke></|TCML|tool_calls>';

const TOOLS = [{ name: "go", parameters: { type: "object", properties: { to: { type: "string" } } } }];

function run(events: readonly ProviderEvent[], changes: ConversationChanges = {}) {
  const assembler = new Assembler(thinkingConversation({ tools: TOOLS, ...changes }));
  const out: GenerationEvent[] = [];
  for (const event of events) assembler.push([event], out);
  const end = assembler.finishTurn(out);
  const join = (type: "text" | "reasoning") =>
    out.map((event) => (event.type === type ? event.text : "")).join("");
  const calls = out.flatMap((event) => (event.type === "tool-call" ? [event] : []));
  return { assembler, out, end, calls, text: join("text"), reasoning: join("reasoning") };
}

const text = (value: string): ProviderEvent => ({ type: "text", text: value });
const reasoning = (value: string): ProviderEvent => ({ type: "reasoning", text: value });

describe("from the provider's events to the caller's", () => {
  it("converts markup to calls, and passes on the text around it", () => {
    const { calls, text: shown, end } = run([text(`before ${CALL} after`)]);
    expect(calls.map(({ name, index }) => [name, index])).toEqual([["go", 0]]);
    expect(shown).toBe("before  after");
    expect(end.isEmpty).toBe(false);
  });

  it("sends calls one at a time, with distinct ids and indices", () => {
    const { out, calls } = run([text(CALL + CALL)]);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2);
    expect(out.map(({ type }) => type).filter((type) => type.startsWith("tool-call"))).toEqual([
      "tool-call",
      "tool-call-end",
      "tool-call",
      "tool-call-end",
    ]);
    expect(calls.map(({ index }) => index)).toEqual([0, 1]);
  });

  it("sends text within a native call after the call, complete or not", () => {
    const begin: ProviderEvent = { type: "tool-call", index: 0, id: "c1", name: "go" };
    const more = (delta: string): ProviderEvent => ({ type: "tool-arguments", index: 0, delta });
    const end: ProviderEvent = { type: "tool-call-end", index: 0 };
    const told = (events: readonly ProviderEvent[]) =>
      run(events).out.map((event) => ("text" in event ? event.text : event.type));
    expect(
      told([begin, more("{"), text("Hm. "), reasoning("Is it?"), more("}"), end, text("Done.")]),
    ).toEqual(["tool-call", "tool-arguments", "tool-arguments", "tool-call-end", "Hm. ", "Is it?", "Done."]);
    expect(told([begin, more('{"a'), text("Hm. ")])).toEqual(["tool-call", "tool-arguments", "Hm. "]);
  });

  it.each([
    [true, TOOLS],
    [true, []],
    [false, TOOLS],
    [false, []],
  ])("never splits a character between two events (stream %s)", (stream, tools) => {
    const begin: ProviderEvent = { type: "tool-call", index: 0, id: "c1", name: "go" };
    const more = (delta: string): ProviderEvent => ({ type: "tool-arguments", index: 0, delta });
    const refusal = (value: string): ProviderEvent => ({ type: "refusal", text: value });
    const pieces = (create: (value: string) => ProviderEvent) =>
      ['{"a\ud83d', "\ude00\ud83d", "\ude00", '":1}'].map(create);
    const call =
      tools.length > 0 ? [begin, ...pieces(more), { type: "tool-call-end", index: 0 } as const] : [];
    const { out } = run([...pieces(reasoning), ...pieces(text), ...call, ...pieces(refusal)], {
      stream,
      tools,
    });
    for (const type of ["reasoning", "text", "refusal", ...(tools.length > 0 ? ["tool-arguments"] : [])]) {
      const values = out.flatMap((event) => {
        if (event.type !== type) return [];
        return "text" in event ? event.text : "delta" in event ? event.delta : [];
      });
      expect(values.join(""), type).toBe('{"a😀😀":1}');
      expect(
        values.filter((value) => !value.isWellFormed() || value === ""),
        type,
      ).toEqual([]);
    }
  });

  it("passes on half a character that stays alone", () => {
    const begin: ProviderEvent = { type: "tool-call", index: 0, id: "c1", name: "go" };
    const half: ProviderEvent = { type: "tool-arguments", index: 0, delta: '"\ud83d' };
    const {
      out,
      text: shown,
      reasoning: thought,
    } = run([...[reasoning("r\ud83d"), text("t\ud83d"), begin, half]]);
    const args = out.flatMap((event) => (event.type === "tool-arguments" ? event.delta : []));
    expect([thought, shown, args.join("")]).toEqual(["r\ud83d", "t\ud83d", '"\ud83d']);
    expect(run([text("t\ud83d")], { tools: [] }).text).toBe("t\ud83d");
  });

  it("keeps markup as text without tools or with tool_choice none", () => {
    expect(run([text(CALL)], { tools: [] }).text).toBe(CALL);
    expect(run([text(CALL)], { toolChoice: { type: "none" } }).text).toBe(CALL);
  });

  describe("with tool_choice none", () => {
    const call: ProviderEvent[] = [
      { type: "tool-call", index: 0, id: "c1", name: "go" },
      { type: "tool-arguments", index: 0, delta: "{}" },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ];
    const toolChoice = { type: "none" } as const;

    it("leaves out calls that the provider makes nevertheless", () => {
      const { assembler, out, end } = run([text("Hm."), ...call], { toolChoice });
      expect(out).toEqual([{ type: "text", text: "Hm." }]);
      expect(end.isEmpty).toBe(false);
      expect(createFinishEvent(assembler, end, { prompt: 1, completion: 1, reasoning: 0 })).toMatchObject({
        reason: "stop",
      });
    });

    it("has no visible output if the provider only makes a call", () => {
      expect(run([reasoning("Hm."), ...call], { toolChoice }).end.isEmpty).toBe(true);
    });

    it("passes on calls of tools that the gateway does not know", () => {
      expect(run(call, { toolChoice, tools: [] }).calls).toHaveLength(1);
    });
  });

  it("makes a call in the reasoning if there is no visible text, and hides its markup (tool rule 9)", () => {
    const { calls, reasoning: shown, end } = run([reasoning(`hmm ${CALL}`), text(" \n ")]);
    expect(calls).toHaveLength(1);
    expect(shown).toBe("hmm ");
    expect(end.isEmpty).toBe(false);
  });

  it("does not search the reasoning if there is visible text (tool rule 9)", () => {
    const { calls, reasoning: shown } = run([reasoning(CALL), text("answer")]);
    expect(calls).toEqual([]);
    expect(shown).not.toContain("TCML");
  });

  it("searches reasoning that the caller did not request, without showing it (tool rule 9)", () => {
    const { calls, reasoning: shown } = run([reasoning(`hmm ${CALL}`)], { showReasoning: false });
    expect(calls).toHaveLength(1);
    expect(shown).toBe("");
  });

  it("does not show white space alone, or before an answer", () => {
    const silent = run([text(" "), text("\n")]);
    expect([silent.end.isEmpty, silent.text]).toEqual([true, ""]);
    expect(run([text(" "), text("\nx")]).text).toBe(" \nx");
  });

  it("shows white space after a call only if text follows", () => {
    expect(run([text(`before\n${CALL}\n`), text("\n")]).text).toBe("before\n");
    expect(run([text(`before\n${CALL}\n`), text("\nafter")]).text).toBe("before\n\n\nafter");
  });

  describe("separate texts", () => {
    const between: ProviderEvent = { type: "text", text: "\n\n", isSeparator: true };
    const shown = (events: readonly ProviderEvent[], changes: ConversationChanges = {}) =>
      run(events, changes).out.map((event) =>
        event.type !== "text" ? event.type : event.separator === undefined ? event.text : "|",
      );

    it.each([
      ["a stream with tools", {}],
      ["a stream without tools", { tools: [] }],
      ["a whole answer with tools", { stream: false }],
      ["a whole answer without tools", { stream: false, tools: [] }],
    ])("are separated in %s", (_, changes) => {
      expect(shown([text("A."), between, text("B.")], changes)).toEqual(["A.", "|", "B."]);
      expect(
        shown([between, text("A."), between, between, text(" "), between, text("B."), between], changes),
      ).toEqual(["A.", "|", "B."]);
      expect(run([text("A."), between, text("B.")], changes).assembler.rawText).toBe("A.\n\nB.");
    });

    it("are separated by a call between them", () => {
      const call: ProviderEvent[] = [
        { type: "tool-call", index: 0, id: "c1", name: "go" },
        { type: "tool-arguments", index: 0, delta: "{}" },
        { type: "tool-call-end", index: 0 },
      ];
      const made = ["tool-call", "tool-arguments", "tool-call-end"];
      expect(shown([text("A."), ...call, between, text("B.")])).toEqual(["A.", ...made, "|", "B."]);
      expect(shown([text("A."), between, ...call, text("B.")])).toEqual(["A.", ...made, "|", "B."]);
      expect(shown([...call, between, text("B.")])).toEqual([...made, "B."]);
    });

    it("end an incomplete markup or citation", () => {
      expect(shown([text("A <tool_"), between, text("calls>")])).toEqual(["A ", "<tool_", "|", "calls>"]);
      expect(shown([text("A [citation:"), between, text("1]")])).toEqual(["A ", "[citation:", "|", "1]"]);
    });

    it("state the citations of the text that they end", () => {
      const cited = (start: number): ProviderEvent => ({
        type: "citation",
        url: `https://${start}.example`,
        title: "A",
        start,
        end: start,
      });
      const { out, assembler } = run([text("One."), cited(4), between, text("Two."), cited(10)]);
      const urls = (citations: readonly { url: string }[] | undefined) => citations?.map(({ url }) => url);
      const separators = out.flatMap((event) =>
        event.type === "text" && event.separator ? [event.separator] : [],
      );
      expect(separators.map(({ citations }) => urls(citations))).toEqual([["https://4.example"]]);
      expect(urls(assembler.sources()?.citations)).toEqual(["https://4.example", "https://10.example"]);
    });
  });

  it("keep the provider's ids of native calls", () => {
    const { out } = run([
      { type: "tool-call", index: 0, id: "up_1", name: "go" },
      { type: "tool-arguments", index: 0, delta: '{"to":1}' },
      { type: "tool-call-end", index: 0 },
      { type: "finish", reason: "tool_calls" },
    ]);
    expect(out.slice(0, 3)).toEqual([
      { type: "tool-call", index: 0, id: "up_1", name: "go" },
      { type: "tool-arguments", index: 0, delta: '{"to":1}' },
      { type: "tool-call-end", index: 0 },
    ]);
  });

  describe("an incomplete call", () => {
    const HALF = '<|TCML|tool_calls><|TCML|invoke name="go"><|TCML|parameter name="to"><![CDATA[Ro';
    const finish = (reason: ProviderFinish): ProviderEvent => ({ type: "finish", reason });
    const ends = (out: readonly GenerationEvent[]) =>
      out.filter(({ type }) => type === "tool-call-end").length;
    const argumentsOf = (out: readonly GenerationEvent[]) =>
      out.map((event) => (event.type === "tool-arguments" ? event.delta : "")).join("");

    it.each<ProviderFinish>(["stop", "length", "content_filter"])(
      "has no end at %s, and does not affect earlier calls",
      (reason) => {
        const { out, calls, end, assembler } = run([text(CALL + HALF), finish(reason)], { stream: true });
        expect(calls).toHaveLength(2);
        expect(argumentsOf(out)).toBe('{"to":"Rome"}{"to":"Ro');
        expect([ends(out), assembler.endedCalls]).toEqual([1, 1]);
        expect(end).toEqual({ isEmpty: false, reason: reason === "stop" ? "length" : reason });
      },
    );

    it("is completed if only its end tag is missing and the answer ended by itself", () => {
      const open = CALL.slice(0, CALL.indexOf("</|TCML|invoke>"));
      expect(run([text(open), finish("stop")]).assembler.endedCalls).toBe(1);
      expect(run([text(open), finish("length")]).assembler.endedCalls).toBe(0);
    });

    it("is shown with the beginning of its arguments, because many clients read no arguments as {}", () => {
      const { out } = run([text(HALF.slice(0, HALF.indexOf("<!["))), finish("length")], { stream: true });
      expect(argumentsOf(out)).toBe("{");
    });

    it("is recognized among native calls, despite another finish reason", () => {
      const { out, end, assembler } = run([
        { type: "tool-call", index: 0, id: "up_1", name: "go" },
        { type: "tool-arguments", index: 0, delta: '{"to":' },
        finish("tool_calls"),
      ]);
      expect([ends(out), assembler.endedCalls, end.reason]).toEqual([0, 0, "length"]);
    });

    it("is not created from reasoning", () => {
      const { calls, end } = run([reasoning(CALL + HALF), finish("length")]);
      expect([calls.length, end.reason]).toEqual([1, "length"]);
      expect(run([reasoning(HALF), finish("stop")]).end.isEmpty).toBe(true);
    });
  });

  describe("a caller that wants one call at a time", () => {
    const single = { parallelToolCalls: false, stream: true };
    const shown = ({ calls, text, reasoning, out }: ReturnType<typeof run>) => {
      const ends = out.filter(({ type }) => type === "tool-call-end").length;
      return [calls.length, ends, text, reasoning];
    };

    it("gets the first call and the text before it, but nothing after it", () => {
      const made = run(
        [
          reasoning("hm"),
          text(`Yes. ${CALL}And ${CALL}`),
          reasoning("so"),
          text("on"),
          { type: "finish", reason: "length" },
        ],
        single,
      );
      expect(shown(made)).toEqual([1, 1, "Yes. ", "hm"]);
      expect(made.end).toEqual({ isEmpty: false, reason: "tool_calls" });
      expect(made.assembler.rawText).toContain(`And ${CALL}on`);
    });

    it("gets the first of native calls, and of those in reasoning", () => {
      const native = [0, 1].flatMap((index): ProviderEvent[] => [
        { type: "tool-call", index, id: `up_${index}`, name: "go" },
        { type: "tool-arguments", index, delta: "{}" },
        { type: "tool-call-end", index },
      ]);
      expect(shown(run(native, single))).toEqual([1, 1, "", ""]);
      expect(shown(run([reasoning(CALL + CALL)], single))).toEqual([1, 1, "", ""]);
    });

    it("gets no second call if the first one is incomplete", () => {
      const { end } = run(
        [
          { type: "tool-call", index: 0, id: "a", name: "go" },
          { type: "tool-arguments", index: 0, delta: '{"to":' },
          { type: "finish", reason: "tool_calls" },
        ],
        single,
      );
      expect(end.reason).toBe("length");
    });
  });

  describe("citation placeholders in reasoning (docs/contract.md, general rule 8)", () => {
    const shown = (events: readonly ProviderEvent[], changes: ConversationChanges = {}) =>
      run(events, changes).out.map((event) => ("text" in event ? `${event.type}:${event.text}` : event.type));

    it.each([true, false])("are hidden from a stream for any split (tools: %s)", (tools) => {
      const thought = "r [citation:1] s[reference:12]";
      for (let at = 0; at <= thought.length; at += 1) {
        const events = [reasoning(thought.slice(0, at)), reasoning(thought.slice(at)), text("answer")];
        const { reasoning: seen, text: answer } = run(events, tools ? {} : { tools: [] });
        expect([seen, answer], `cut at ${at}`).toEqual(["r  s", "answer"]);
      }
    });

    it("never suppress an incomplete placeholder: it is sent before the text, a call or a refusal", () => {
      const call: ProviderEvent = { type: "tool-call", index: 0, id: "c1", name: "go" };
      const begun = reasoning("see [cita");
      const seen = ["reasoning:see ", "reasoning:[cita"];
      expect(shown([begun, text(" "), text("x")])).toEqual([...seen, "text: x"]);
      expect(shown([begun, call]).slice(0, 3)).toEqual([...seen, "tool-call"]);
      expect(shown([begun, { type: "refusal", text: "No." }])).toEqual([...seen, "refusal:No."]);
      expect(shown([begun])).toEqual(seen);
    });

    it("do not continue after visible text, nor in the next turn", () => {
      const events = [reasoning("[cita"), text("x"), reasoning("tion:1]"), text("y")];
      expect(shown(events)).toEqual(["reasoning:[cita", "text:x", "reasoning:tion:1]", "text:y"]);
      const assembler = new Assembler(thinkingConversation());
      const out: GenerationEvent[] = [];
      for (const piece of ["[cita", "tion:1]"]) {
        assembler.push([reasoning(piece)], out);
        assembler.finishTurn(out);
      }
      expect(out).toEqual([reasoning("[cita"), reasoning("tion:1]")]);
    });

    it("go on in the rest of a message that comes in another stream, and are forgotten when it begins anew", () => {
      const seen = (between: (assembler: Assembler) => void) => {
        const assembler = new Assembler(thinkingConversation());
        const out: GenerationEvent[] = [];
        assembler.push([reasoning("a[citation:")], out);
        between(assembler);
        assembler.push([reasoning("1]b")], out);
        assembler.finishTurn(out);
        return out.map((event) => (event.type === "reasoning" ? event.text : "")).join("");
      };
      expect(seen((assembler) => assembler.continueTurn())).toBe("ab");
      expect(seen((assembler) => assembler.reset())).toBe("a1]b");
    });

    it("are kept for a whole answer, which makes links of them, and in what was said", () => {
      expect(run([reasoning("a[citation:1]")], { stream: false }).reasoning).toBe("a[citation:1]");
      expect(run([reasoning("a[citation:1]")]).assembler.rawReasoning).toBe("a[citation:1]");
    });
  });

  it("names the matched stop sequence only if the caller sent it", () => {
    const at = (stopSequence: string) =>
      run([text("a"), { type: "finish", reason: "stop", stopSequence }], { options: { stop: ["END"] } })
        .assembler.stopSequence;
    expect([at("END"), at("end_turn")]).toEqual(["END", undefined]);
  });

  it("counts native calls if the provider states no usage, also in a cut answer", () => {
    const words = "many words of an argument ".repeat(50);
    const { assembler } = run([
      { type: "tool-call", index: 0, id: "call_1", name: "go" },
      { type: "tool-arguments", index: 0, delta: `{"to":"${words}` },
      { type: "tool-arguments", index: 0, delta: '"}' },
      { type: "tool-call-end", index: 0 },
    ]);
    expect(assembler.usage("a prompt").completion).toBeGreaterThan(200);
    expect(assembler.usageSoFar("a prompt").completion).toBeGreaterThan(200);
    assembler.reset();
    expect(assembler.usage("a prompt").completion).toBe(0);
  });

  it("counts a cut turn by its stated usage, but at least by its text", () => {
    const assembler = new Assembler(thinkingConversation());
    assembler.push(
      [{ type: "usage", usage: { prompt: 11, completion: 1 } }, text("some words of an answer")],
      [],
    );
    const usage = assembler.usageSoFar("a prompt");
    expect(usage.prompt).toBe(11);
    expect(usage.completion).toBeGreaterThan(3);
  });

  it("starts anew in a second turn, but continues the numbers of calls", () => {
    const assembler = new Assembler(thinkingConversation({ tools: TOOLS }));
    const out: GenerationEvent[] = [];
    assembler.push([text("<|TCML|tool_ca")], out);
    assembler.finishTurn(out);
    out.length = 0;
    assembler.push([text(CALL)], out);
    assembler.finishTurn(out);
    expect(out[0]).toMatchObject({ type: "tool-call", name: "go", index: 0 });
  });

  it("sums stated counts over turns, and counts the prompt once", () => {
    const { assembler } = run([
      text("a"),
      { type: "usage", usage: { prompt: 10, completion: 3, reasoning: 1 } },
    ]);
    assembler.push([{ type: "usage", usage: { prompt: 12, completion: 4 } }], []);
    assembler.finishTurn([]);
    expect(assembler.usage("prompt")).toEqual({ prompt: 12, completion: 7, reasoning: 1 });
  });

  it("estimates counts that the provider omits", () => {
    const { assembler } = run([reasoning("one two"), text("three four five")]);
    const usage = assembler.usage("a prompt of some words");
    expect(usage.prompt).toBeGreaterThan(0);
    expect(usage.completion).toBeGreaterThan(usage.reasoning);
    expect(usage.reasoning).toBeGreaterThan(0);
  });
});
