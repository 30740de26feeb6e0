import type { ResponseFormat } from "../conversation/conversation.ts";

/**
 * What a model without a native response format is told about the shape of its answer; null when any text will do.
 */
export function responseFormatInstructions(format: ResponseFormat): string | null {
  switch (format.type) {
    case "text":
      return null;
    case "json":
      return "Answer with one valid JSON object and nothing else: no explanation, no code fence.";
    case "json-schema":
      return [
        "Answer with one JSON value that is valid under the JSON schema below, and nothing else: no explanation, no code fence.",
        format.name === undefined ? "JSON schema:" : `JSON schema ${format.name}:`,
        JSON.stringify(format.schema),
      ].join("\n");
  }
}
