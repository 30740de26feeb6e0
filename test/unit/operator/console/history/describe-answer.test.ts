import { describe, expect, it } from "vitest";
import {
  describeAnswer,
  selectFirstTab,
} from "../../../../../src/operator/console/pages/history/describe-answer.ts";

const call = (name: string) =>
  `<|TCML|invoke name="${name}"><|TCML|parameter name="city">Rome</|TCML|parameter></|TCML|invoke>`;
const wrap = (calls: string) => `<|TCML|tool_calls> ${calls} </|TCML|tool_calls>`;
const preview = (response_preview: string, finish_reason = "tool_calls") =>
  describeAnswer({ response_preview, finish_reason });

describe("the list of the history", () => {
  it("names the functions that an answer calls instead of showing their markup", () => {
    expect(preview(wrap(call("get_weather")))).toBe("calls get_weather");
    expect(preview(wrap(call("get_weather") + call("get_time") + call("get_time")))).toBe(
      "calls get_weather, get_time",
    );
    expect(preview("<tool_calls><invoke name='search.web'></invoke></tool_calls>")).toBe("calls search.web");
  });

  it("shows the text beside the calls", () => {
    expect(preview(`Let me look. ${wrap(call("get_weather"))}`)).toBe("Let me look. · calls get_weather");
  });

  it("shows no markup where the preview ends within a call", () => {
    const whole = wrap(call("get_weather"));
    const opening = "<|TCML|tool_calls".length;
    for (let end = opening; end <= whole.length; end += 1) {
      expect(preview(whole.slice(0, end))).toMatch(/^calls (?:tools|get_weather)$/);
    }
    // The generation runs, or its client has left.
    expect(preview(whole.slice(0, 60), "")).toBe("calls get_weather");
  });

  it("names the functions of calls that are not in the text", () => {
    const answer = { finish_reason: "tool_calls", called_functions: ["get_weather", "get_time"] };
    expect(describeAnswer({ ...answer, response_preview: "" })).toBe("calls get_weather, get_time");
    expect(describeAnswer({ ...answer, response_preview: "Let me look." })).toBe(
      "Let me look. · calls get_weather, get_time",
    );
    // The preview ends before the second call.
    expect(describeAnswer({ ...answer, response_preview: wrap(call("get_weather")).slice(0, 60) })).toBe(
      "calls get_weather, get_time",
    );
  });

  it("says that tools were called where the calls are not in the text", () => {
    expect(preview("")).toBe("calls tools");
    expect(preview("Let me look.")).toBe("Let me look. · calls tools");
  });

  it("shows an answer that calls nothing as it is", () => {
    expect(preview("Rome is sunny.", "stop")).toBe("Rome is sunny.");
    expect(preview("", "stop")).toBe("");
    const explanation = `Markup is written so: ${wrap(call("f"))}`;
    expect(preview(explanation, "stop")).toBe(explanation);
  });
});

describe("a record", () => {
  const opens = (content: string, finish_reason: string) => selectFirstTab({ content, finish_reason });

  it("opens with the tool calls if its answer is nothing else", () => {
    expect(opens(wrap(call("get_weather")), "tool_calls")).toBe("calls");
    // In the provider's native form, or in the reasoning.
    expect(opens("", "tool_calls")).toBe("calls");
  });

  it("opens with the answer if it has text, or calls nothing", () => {
    expect(opens(`Let me look.\n${wrap(call("get_weather"))}`, "tool_calls")).toBe("answer");
    expect(opens("Rome is sunny.", "stop")).toBe("answer");
    expect(opens("", "stop")).toBe("answer");
    expect(opens("", "")).toBe("answer");
  });
});
