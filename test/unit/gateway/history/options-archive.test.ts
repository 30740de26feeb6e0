import { describe, expect, it } from "vitest";
import { serializeOptions } from "../../../../src/gateway/history/options-archive.ts";
import { historyRecordSchema } from "../../../../src/operator/admin/history/archive-answers.ts";
import { conversation } from "../../../support/conversations.ts";

const keep = (text: string) => text;
const tool = { name: "look_up", description: "Mail ada@example.com", parameters: { type: "object" } };

describe("the archived tools and parameters of a request", () => {
  it("are those that it set, and fit the declared answer", () => {
    const options = JSON.parse(
      serializeOptions(
        conversation({
          tools: [tool],
          toolChoice: { type: "function", name: "look_up" },
          sampling: { temperature: 0, maxTokens: 5, stop: ["end"] },
          responseFormat: { type: "json-schema", name: "answer", schema: { type: "object" } },
        }),
        keep,
      ),
    );
    expect(options).toEqual({
      tools: [tool],
      tool_choice: { function: "look_up" },
      response_format: { type: "json_schema", name: "answer", schema: { type: "object" } },
      temperature: 0,
      max_tokens: 5,
      stop: ["end"],
    });
    expect(historyRecordSchema().shape.options.parse(options)).toEqual(options);
    expect(JSON.parse(serializeOptions(conversation(), null))).toEqual({ tools: [] });
  });

  it("are redacted as texts, and stay JSON", () => {
    const hide = (text: string) => text.replace(/\S+@\S+/, "[email]");
    const { tools } = JSON.parse(serializeOptions(conversation({ tools: [tool] }), hide));
    expect(tools).toEqual([{ ...tool, description: "Mail [email]" }]);
  });

  it("leave out tools that are too long to store", () => {
    const long = { ...tool, description: "x".repeat(300_000) };
    const text = serializeOptions(conversation({ tools: [long], sampling: { temperature: 1 } }), keep);
    expect(JSON.parse(text)).toEqual({ tools: [], tools_omitted: true, temperature: 1 });
  });
});
