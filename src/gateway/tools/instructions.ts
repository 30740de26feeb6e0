import type { ToolChoice, ToolDefinition } from "../../core/conversation/tool.ts";
import { renderExampleCalls } from "./example-calls.ts";

export { type RenderedCall, renderToolCall, renderToolCalls, renderToolResult } from "./render-calls.ts";

function describeTool(tool: ToolDefinition): string {
  const schema = JSON.stringify(tool.parameters ?? { type: "object", properties: {} });
  const description = tool.description?.trim();
  const lines = [`### ${tool.name}`];
  if (description) lines.push(description);
  lines.push(`Parameters (JSON Schema): ${schema}`);
  if (tool.strict) lines.push("Arguments must match the schema exactly; no other parameters are allowed.");
  return lines.join("\n");
}

/** The instruction for a `tool_choice`, worded for the model. */
export function describeToolChoice(choice: ToolChoice): string {
  switch (choice.type) {
    case "function":
      return `You must call the tool "${choice.name}" in this answer. Do not answer without calling it.`;
    case "required":
      return "You must call at least one tool in this answer. Do not answer without a call.";
    default:
      return "Call a tool only when it helps; otherwise answer in plain text without any of these tags.";
  }
}

/** The descriptions of a request's tools, each with its schema; empty without tools. */
export function describeTools(tools: readonly ToolDefinition[]): string {
  if (tools.length === 0) return "";
  return ["## Tools", "You can call these tools:", ...tools.map(describeTool)].join("\n\n");
}

/**
 * The rules for calling tools: the markup with one example, and whether a call is required. Empty without tools or when
 * `choice` is `none`.
 * @param options.parallel Whether several calls may be made at once. Default true.
 */
export function describeCallingRules(
  tools: readonly ToolDefinition[],
  choice: ToolChoice,
  options: { parallel?: boolean } = {},
): string {
  if (tools.length === 0 || choice.type === "none") return "";
  const forced = choice.type === "function" ? tools.filter((tool) => tool.name === choice.name) : tools;
  const parallel = options.parallel ?? true;
  const rules = [
    "Write the tags exactly as shown, in plain text: not in a code block, not in backticks.",
    "Put every parameter in its own tag, named as in the schema. A tool without parameters gets none.",
    "Put strings in <![CDATA[…]]>, exactly as they are, without escapes. An empty string is <![CDATA[]]>.",
    "Write numbers, true, false and null as they are, arrays and objects as JSON.",
    parallel
      ? "To make several independent calls at once, put several invoke tags in the same tool_calls tag."
      : "Make one call at a time: exactly one invoke tag.",
    "End your answer after the closing tool_calls tag and wait: the results are given to you by id. Never write results yourself.",
    describeToolChoice(choice),
  ];
  return [
    "## How to call tools",
    "Write calls in this form, here with example values:",
    renderExampleCalls(forced.length > 0 ? forced : tools, parallel),
    rules.map((rule) => `- ${rule}`).join("\n"),
  ].join("\n\n");
}

/** All instructions about a request's tools: {@link describeTools}, then {@link describeCallingRules}. */
export function renderToolInstructions(
  tools: readonly ToolDefinition[],
  choice: ToolChoice,
  options: { parallel?: boolean } = {},
): string {
  const rules = describeCallingRules(tools, choice, options);
  return rules === "" ? "" : `${describeTools(tools)}\n\n${rules}`;
}
