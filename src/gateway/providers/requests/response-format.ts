import type { ResponseFormat } from "../../../core/conversation/conversation.ts";

/** Returns instructions on the answer's format for a model without a native response format. Null: any text is valid. */
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
