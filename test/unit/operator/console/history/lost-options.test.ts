import { expect, it } from "vitest";
import { playground as chat } from "../../../../../src/gateway/dialects/chat-completions/playground.ts";
import { playground as messages } from "../../../../../src/gateway/dialects/messages/playground.ts";
import { listLostOptions } from "../../../../../src/operator/console/pages/history/lost-options.ts";
import { texts } from "../../../../../src/operator/console/pages/history/texts.ts";

const tool = { name: "look_up", description: "", parameters: {} };

it("names every option that a repeated request lacks", () => {
  const options = {
    tools: [tool],
    tool_choice: "required",
    temperature: 0.3,
    min_p: 0.1,
    logit_bias: { 5: 1 },
    verbosity: "low",
    parallel_tool_calls: false,
  };
  const lost = ["tool_choice", "logit_bias", "verbosity", "parallel_tool_calls"];
  expect(listLostOptions({ options, end_user: "chen" }, chat)).toEqual(lost);
  expect(listLostOptions({ options, end_user: "chen" }, { parameters: {} })).toEqual(
    expect.arrayContaining([...lost, "temperature", "min_p", "user"]),
  );
});

it("names a parameter that the API style of the request does not support", () => {
  expect(listLostOptions({ options: { tools: [], temperature: 1, min_p: 0.1 } }, messages)).toEqual([
    "min_p",
  ]);
});

it("states that tools were too long, or that a record has no options", () => {
  expect(listLostOptions({ options: { tools: [], tools_omitted: true } }, chat)).toEqual([texts.tools]);
  expect(listLostOptions({ options: null }, chat)).toEqual([texts.toolsAndParameters]);
});
