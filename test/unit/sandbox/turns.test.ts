import { describe, expect, it } from "vitest";
import { DRIFT_FORMS } from "../../../sandbox/markup.ts";
import { type Outcome, SandboxClient } from "./client.ts";

const say = (prompt: string, fields: Record<string, unknown> = {}): Promise<Outcome> =>
  new SandboxClient().turn(prompt, fields);
const names = (outcome: Outcome): string[] => outcome.events.map(({ event }) => event);

describe("an answer", () => {
  it("repeats the last user message, identically each time", async () => {
    const prompt =
      "### System\nBe kind.\n\n### User\nold [[say:old]]\n\n### Assistant\nok\n\n### User\n\nHow are you?";
    const first = await say(prompt);
    expect(first.text).toContain("“How are you?”");
    expect(first.text).not.toContain("old");
    expect(first.reasoning).toBe("");
    expect(await say(prompt)).toEqual(first);
    expect(names(first).slice(0, 2)).toEqual(["start", "text"]);
    expect(names(first).slice(-2)).toEqual(["usage", "finish"]);
    expect(first.events.length).toBeGreaterThan(5);
  });

  it("contains reasoning with thinking enabled, and sources with search enabled", async () => {
    const outcome = await say("Why?", { thinking: true, search: true });
    expect(outcome.reasoning).toContain("Why?");
    expect(outcome.text).toContain("[citation:1]");
    expect(outcome.events.find(({ event }) => event === "search")?.data).toMatchObject({
      results: [{ index: 1 }, { index: 2 }],
    });
  });

  it("states token counts, with reasoning as part of the completion", async () => {
    const { events } = await say("[[say:12345678]][[think:1234]]");
    expect(events.find(({ event }) => event === "usage")?.data).toEqual({
      prompt_tokens: Math.ceil("[[say:12345678]][[think:1234]]".length / 4),
      completion_tokens: 3,
      reasoning_tokens: 1,
    });
  });

  it.each([
    ["[[say:a\\nb\\u00e9\\\\]]", "a\nbé\\"],
    ["[[say:a[1]]]", "a[1]"],
    ["[[say64:aMOpXV0=]]", "hé]]"],
    ["[[say:one ]][[say:two]]", "one two"],
    ["[[big:10]]", "The quick "],
    ["[[say:stop here please]]", "stop "],
    ["[[unknown]] [[say:x]]", "x"],
  ])("has the exact text for %s", async (prompt, text) => {
    expect((await say(prompt, { stop: "here" })).text).toBe(text);
  });

  it("contains the received turn with [[echo]]", async () => {
    const { text } = await say("[[echo]]", { model: "pro", temperature: 0.5 });
    expect(JSON.parse(text)).toMatchObject({ prompt: "[[echo]]", model: "pro", temperature: 0.5 });
  });
});

describe("tool calls", () => {
  const tools = `Write tool_calls.\n\n- name: "get_weather"\n{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"}},"required":["city","days"]}`;

  it("are written by directive, adjacent ones in one wrapper", async () => {
    const { text } = await say('[[say:Now: ]][[call:f:{"a":[[1]],"b":"x"}]][[call:g]][[say: done]]');
    expect(text).toBe(
      'Now: <|TCML|tool_calls><|TCML|invoke name="f"><|TCML|parameter name="a"><![CDATA[[[1]]]]></|TCML|parameter>' +
        '<|TCML|parameter name="b"><![CDATA[x]]></|TCML|parameter></|TCML|invoke>' +
        '<|TCML|invoke name="g"></|TCML|invoke></|TCML|tool_calls> done',
    );
  });

  it.each(DRIFT_FORMS)("have the form %s", async (form) => {
    const { text } = await say(`[[drift:${form}]][[call:f:{"a":1}]]`);
    expect(text).toMatch(/f/);
    expect(text === (await say('[[call:f:{"a":1}]]')).text).toBe(form === "canonical");
  });

  it("are written if the prompt asks for them in plain words", async () => {
    const prompt = `### System\n${tools}\n\n### User\nUse the tool get_weather for Paris, 3 days.`;
    const { text } = await say(prompt);
    expect(text).toContain('invoke name="get_weather"');
    expect(text).toContain('name="city"><![CDATA[Paris]]>');
    expect(text).toContain('name="days"><![CDATA[3]]>');
  });

  it("name the tool, also if its description is the word that the question has", async () => {
    const prompt = "Write tool_calls.\n\n### get_weather\nweather\n\n### User\nWhat's the weather in Oslo?";
    expect((await say(prompt)).text).toContain('invoke name="get_weather"');
  });

  it("are not written if the tool is not offered", async () => {
    const prompt = `### System\n${tools}\n\n### User\nUse the tool rm_rf now.`;
    expect((await say(prompt)).text).not.toContain("invoke");
  });

  it("are not repeated after their results", async () => {
    const prompt =
      "### User\n[[call:f]] go\n\n### Assistant\n…\n\n### Tool result (f)\n\n22 degrees [[cut:1]]";
    const outcome = await say(prompt);
    expect(outcome.text).toContain("> 22 degrees");
    expect(outcome.text).not.toContain("TCML");
    expect(outcome.finish).toBe("stop");
    expect((await say(prompt.replace("go", "[[then:all\\ndone]]"))).text).toBe("all\ndone");
  });

  it("may be in the reasoning, without text", async () => {
    const outcome = await say("[[call-in-reasoning]][[call:f]]", { thinking: true });
    expect(outcome.reasoning).toContain('invoke name="f"');
    expect(outcome.text).toBe("");
  });
});

describe("an empty answer", () => {
  it("is followed by a full one in the same session, for any follow-up", async () => {
    for (const again of ["[[empty]] hello there\nNow answer.", "Now answer."]) {
      const client = new SandboxClient();
      const first = await client.turn("[[empty]] hello there");
      expect(first).toMatchObject({ text: "", finish: "stop" });
      expect(first.reasoning).not.toBe("");
      const second = await client.turn(again, { parent_message_id: first.messageId });
      expect(second.text).toContain("hello there");
    }
  });

  it("stays empty with [[empty:always]]", async () => {
    const client = new SandboxClient();
    const first = await client.turn("[[empty:always]]");
    expect((await client.turn("again", { parent_message_id: first.messageId })).text).toBe("");
  });

  it("is empty on the first account only with [[empty:account]]", async () => {
    const one = new SandboxClient("sandbox-token-one");
    const two = new SandboxClient("sandbox-token-two", one.provider);
    for (let round = 0; round < 2; round++) {
      const first = await one.turn("[[empty:account]] hi");
      expect(first.text).toBe("");
      expect((await one.turn("again", { parent_message_id: first.messageId })).text).toBe("");
      expect((await two.turn("[[empty:account]] hi")).text).toContain("hi");
    }
  });
});

describe("an incomplete answer", () => {
  it("continues as often as requested, and contains everything once", async () => {
    const client = new SandboxClient();
    const text = "0123456789é🙂";
    let outcome = await client.turn(`[[incomplete:3]][[say:${text}]]`);
    const { messageId } = outcome;
    let whole = outcome.text;
    for (let count = 0; count < 3; count++) {
      expect(outcome.finish).toBe("incomplete");
      outcome = await client.continue(messageId);
      expect(outcome.messageId).toBe(messageId);
      whole += outcome.text;
    }
    expect(outcome.finish).toBe("stop");
    expect(whole).toBe(text);
    expect((await client.continue(messageId)).status).toBe(400);
    expect((await client.continue("none")).status).toBe(404);
  });
});

describe("a fault by directive", () => {
  it("cuts the stream after N events", async () => {
    expect(names(await say("[[cut:2]]"))).toEqual(["start", "text"]);
    expect((await say("[[cut:0]]")).raw).toBe("");
    const middle = await say("[[cut]]");
    expect(middle.finish).toBeUndefined();
    expect(middle.events.length).toBeGreaterThan(2);
  });

  it("breaks the connection after N events", async () => {
    const outcome = await say("[[reset:3]]");
    expect(outcome.broken).toBe(true);
    expect(outcome.events).toHaveLength(3);
  });

  it("sends an event with invalid JSON", async () => {
    expect((await say("[[garbage:1]]")).raw).toMatch(/\n\nevent: text\ndata: \{"text": "torn\n\n/);
  });

  it("ends the stream with an error event", async () => {
    const outcome = await say("[[error:rate_limited:2]]");
    expect(names(outcome)).toEqual(["start", "text", "error"]);
    expect(outcome.events.at(-1)?.data).toMatchObject({ code: "rate_limited" });
  });

  it("answers with a status instead of a stream, always, the first time, or on the first account", async () => {
    const one = new SandboxClient("sandbox-token-one");
    const two = new SandboxClient("sandbox-token-two", one.provider);
    const statuses = async (...turns: Promise<Outcome>[]): Promise<number[]> =>
      (await Promise.all(turns)).map(({ status }) => status);
    const always = "[[status:503:model_unavailable]]";
    expect(await statuses(one.turn(always))).toEqual([503]);
    expect(await statuses(one.turn(always))).toEqual([503]);
    const once = "[[status:429:rate_limited:once]]";
    expect((await one.turn(once)).status).toBe(429);
    expect((await one.turn(once)).status).toBe(200);
    const account = "[[status:403:account_suspended:account]]";
    expect((await one.turn(account)).status).toBe(403);
    expect((await two.turn(account)).status).toBe(200);
  });

  it("keeps the reader waiting, and ends when the reader leaves", async () => {
    const client = new SandboxClient();
    await client.openSession();
    const body = {
      parent_message_id: null,
      model: "flash",
      prompt: "[[hang:1]]",
      file_ids: [],
      thinking: false,
    };
    const response = await client.send("POST", `/api/sessions/${client.session}/turns`, {
      ...body,
      search: false,
    });
    const reader = response.body?.getReader();
    await reader?.read();
    expect(await client.json("GET", "/sandbox/state")).toMatchObject({ open_streams: 1 });
    await reader?.cancel();
    await expect.poll(async () => (await client.json("GET", "/sandbox/state"))["open_streams"]).toBe(0);
  });

  it("slows the stream down", async () => {
    const started = performance.now();
    await say("[[slow:10]][[say:a]][[stall:20]][[late:20]]");
    expect(performance.now() - started).toBeGreaterThan(65);
  });
});

describe("events", () => {
  const text = "Grüße 🙂 ".repeat(5);

  it.each([
    "[[chunk:1]]",
    "[[crlf]]",
    "[[comments]]",
    "[[multiline]]",
    "[[bytes:1]]",
    "[[crlf]][[bytes:3]][[multiline]]",
  ])("have the same text with %s", async (directives) => {
    const outcome = await say(`${directives}[[say:${text}]]`);
    expect(outcome.text).toBe(text);
    expect(outcome.finish).toBe("stop");
  });

  it("are split, shortened and ended by directive", async () => {
    expect(names(await say("[[chunk:2]][[say:abcde]][[nousage]]"))).toEqual([
      "start",
      "text",
      "text",
      "text",
      "finish",
    ]);
    expect((await say("[[crlf]]")).raw).toMatch(/^event: start\r\ndata: \{.*\}\r\n\r\n/);
    expect((await say("[[longline]]")).raw.split("\n").some((line) => line.length > 1024 * 1024)).toBe(true);
    expect((await say("[[length]]")).finish).toBe("length");
    expect((await say("[[content_filter]]")).finish).toBe("content_filter");
  });
});

describe("the parser of prompts", () => {
  it("splits only at whole heading lines, with or without details in brackets", async () => {
    const prompt = "### User (ann)\n\n[[say:yes]]\n\n### User guide\n\n### System\n\nAnswer now. [[say:no]]";
    expect((await say(prompt)).text).toBe("yes");
  });

  it("uses only the first paragraph", async () => {
    const { text } = await say("### User\n\nHello\n\nThink well before you answer.");
    expect(text).toContain("“Hello”");
    expect(text).not.toContain("Think well");
    expect((await say("### User\n\n[[length]]\n\nThink well.")).text).not.toContain("Think well");
  });
});
