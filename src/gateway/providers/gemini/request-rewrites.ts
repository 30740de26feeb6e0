import type { FieldRule } from "../refused-fields/field-rules.ts";
import { anyPattern, fieldRejectionPattern, sentencePattern } from "../refused-fields/rejection-patterns.ts";
import { toEffort } from "../requests/thinking-budget.ts";
import { toGeminiSchema } from "./gemini-schema.ts";
import type {
  WireContent,
  WireGenerationConfig,
  WirePart,
  WireRequest,
  WireTool,
  WireToolCall,
} from "./wire.ts";

/** Replaces an unknown thought signature. The protocol defines this value. */
const UNKNOWN_THOUGHT_SIGNATURE = "skip_thought_signature_validator";

const SEARCH =
  "(?:google_?search|search(?: as a tool| tools?| grounding)|built-in tools|tool use with function calling)";

type Change = Pick<FieldRule<WireRequest>, "name" | "isPresent" | "remove">;

/** The JSON schema of the answer. */
const SCHEMA: Change = {
  name: "generationConfig.responseJsonSchema",
  isPresent: ({ generationConfig }) => generationConfig.responseJsonSchema !== undefined,
  remove: (request) => withGenerationConfig(request, ({ responseJsonSchema: _, ...rest }) => rest),
};

/** The JSON schemas of the functions' arguments. */
const PARAMETERS: Change = {
  name: "tools.functionDeclarations.parametersJsonSchema",
  isPresent: ({ tools = [] }) => tools.some(usesJsonSchema),
  remove: ({ tools = [], ...rest }) => ({ ...rest, tools: tools.map(withGeminiSchema) }),
};

/**
 * Changes to requests for models that refuse a field which the table of optional members cannot simply leave out. The
 * patterns match the error messages of the real service.
 */
export const REQUEST_REWRITES: readonly FieldRule<WireRequest>[] = [
  {
    name: "generationConfig.thinkingConfig",
    isUnreported: true,
    // A model that always thinks needs no configuration for it.
    rejectionPattern: anyPattern(
      fieldRejectionPattern("thinking[ _]?budget"),
      /budget \(?0\)? is invalid|only works in thinking mode/,
    ),
    isPresent: ({ generationConfig: { thinkingConfig } }) => thinkingConfig?.thinkingBudget === 0,
    remove: (request) => withGenerationConfig(request, ({ thinkingConfig: _, ...rest }) => rest),
  },
  {
    name: "generationConfig.thinkingConfig",
    isUnreported: true,
    // Newer models have levels instead of budgets. If a budget is out of range, the caller must correct it.
    rejectionPattern: anyPattern(
      sentencePattern("thinking[ _]?budget", "not supported"),
      /unknown name \\?"thinking_?budget|use thinking[ _]?level/,
    ),
    isPresent: ({ generationConfig: { thinkingConfig } }) => (thinkingConfig?.thinkingBudget ?? 0) > 0,
    remove: (request) =>
      withGenerationConfig(request, ({ thinkingConfig, ...rest }) => ({
        ...rest,
        thinkingConfig: {
          includeThoughts: true,
          thinkingLevel: toEffort(thinkingConfig?.thinkingBudget ?? 0).toUpperCase(),
        },
      })),
  },
  {
    name: "generationConfig.thinkingConfig",
    // The model cannot think, or the server does not know the field.
    rejectionPattern: anyPattern(
      sentencePattern("think(?:ing)?(?!\\w{0,80}[ _]?budget)", "not (?:supported|enabled)|unsupported"),
      /unknown name \\?"thinking_?(?:config|level)/,
    ),
    isPresent: ({ generationConfig: { thinkingConfig } }) => thinkingConfig !== undefined,
    remove: (request) => withGenerationConfig(request, ({ thinkingConfig: _, ...rest }) => rest),
  },
  {
    name: "tools.googleSearch",
    // A model that cannot search, or not together with the caller's functions, answers from its own knowledge.
    rejectionPattern: anyPattern(
      fieldRejectionPattern(SEARCH),
      sentencePattern(SEARCH, "cannot be combined"),
      sentencePattern("supported only", SEARCH),
    ),
    isPresent: ({ tools = [] }) => tools.some((tool) => "googleSearch" in tool),
    remove: ({ tools = [], ...rest }) => {
      const otherTools = tools.filter((tool) => !("googleSearch" in tool));
      return { ...rest, ...(otherTools.length === 0 ? {} : { tools: otherTools }) };
    },
  },
  {
    // The prompt also describes the schema, and a whole answer is validated against it.
    rejectionPattern: fieldRejectionPattern("response_?(?:json_?)?schema"),
    ...SCHEMA,
  },
  {
    // A rejected schema says nothing about other schemas, so the rejection is not remembered.
    rejectionPattern: /response_?(?:json_?)?schema|too many states/i,
    ...SCHEMA,
    isTransient: true,
  },
  {
    name: "generationConfig.responseMimeType",
    rejectionPattern: anyPattern(
      sentencePattern("mime[ _]?type|json mode", "unsupported|not (?:supported|enabled)"),
      /unknown name \\?"response_?mime/,
    ),
    isPresent: ({ generationConfig }) => generationConfig.responseMimeType !== undefined,
    remove: (request) =>
      withGenerationConfig(request, ({ responseMimeType: _, responseJsonSchema: __, ...rest }) => rest),
  },
  {
    name: "systemInstruction",
    isUnreported: true,
    // Small models accept no system instruction, so the instruction is sent as user text.
    rejectionPattern: fieldRejectionPattern("(?:developer|system)[_ ]?instructions?"),
    isPresent: ({ systemInstruction }) => systemInstruction !== undefined,
    remove: ({ systemInstruction, contents, ...rest }) => ({
      ...rest,
      contents: [{ role: "user", parts: systemInstruction?.parts ?? [] }, ...contents],
    }),
  },
  {
    rejectionPattern: fieldRejectionPattern("parameters_?json_?schema"),
    ...PARAMETERS,
    isUnreported: true,
  },
  {
    rejectionPattern: /parameters_?json_?schema/i,
    ...PARAMETERS,
    isUnreported: true,
    isTransient: true,
  },
  {
    name: "contents.parts.functionCall.id",
    isUnreported: true,
    rejectionPattern: /unknown name \\?"id\\?"/i,
    isPresent: ({ contents }) => contents.some(({ parts }) => parts.some(hasId)),
    remove: (request) => withParts(request, ({ parts }) => parts.map(withoutId)),
  },
  {
    name: "contents.parts.thoughtSignature",
    isUnreported: true,
    // Newer models require the earlier thought signatures, or the value for an unknown signature.
    rejectionPattern: /missing (?:a )?`?thought_?\s?signature/i,
    isPresent: ({ contents }) => contents.some(isUnsigned),
    remove: (request) =>
      withParts(request, (content) =>
        isUnsigned(content) ? withUnknownSignature(content.parts) : content.parts,
      ),
  },
  {
    name: "contents.parts.thoughtSignature",
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    rejectionPattern:
      /(?:invalid|corrupted) `?thought[ _]?signature|thought[ _]?signature`? is (?:not valid|invalid|corrupted)/i,
    isPresent: ({ contents }) => contents.some(({ parts }) => parts.some(isSigned)),
    remove: (request) =>
      withParts(request, ({ parts }) =>
        parts.map((part) =>
          isSigned(part) ? { ...part, thoughtSignature: UNKNOWN_THOUGHT_SIGNATURE } : part,
        ),
      ),
    isTransient: true,
  },
];

function withGenerationConfig(
  request: WireRequest,
  convert: (config: WireGenerationConfig) => WireGenerationConfig,
): WireRequest {
  return { ...request, generationConfig: convert(request.generationConfig) };
}

function withParts(
  request: WireRequest,
  convert: (content: WireContent) => readonly WirePart[],
): WireRequest {
  const contents = request.contents.map((content) => ({ ...content, parts: convert(content) }));
  return { ...request, contents };
}

function usesJsonSchema(tool: WireTool): boolean {
  return (
    "functionDeclarations" in tool &&
    tool.functionDeclarations.some(({ parametersJsonSchema }) => parametersJsonSchema !== undefined)
  );
}

function withGeminiSchema(tool: WireTool): WireTool {
  if (!("functionDeclarations" in tool)) return tool;
  const functionDeclarations = tool.functionDeclarations.map(({ parametersJsonSchema: schema, ...rest }) => ({
    ...rest,
    ...(schema === undefined ? {} : { parameters: toGeminiSchema(schema) }),
  }));
  return { functionDeclarations };
}

function hasId(part: WirePart): boolean {
  if ("functionCall" in part) return part.functionCall.id !== undefined;
  return "functionResponse" in part && part.functionResponse.id !== undefined;
}

function withoutId(part: WirePart): WirePart {
  if ("functionCall" in part) {
    const { id: _, ...functionCall } = part.functionCall;
    return { ...part, functionCall };
  }
  if (!("functionResponse" in part)) return part;
  const { id: _, ...functionResponse } = part.functionResponse;
  return { functionResponse };
}

function isCall(part: WirePart): part is WireToolCall {
  return "functionCall" in part;
}

function isSigned(part: WirePart): part is WireToolCall {
  return (
    isCall(part) && part.thoughtSignature !== undefined && part.thoughtSignature !== UNKNOWN_THOUGHT_SIGNATURE
  );
}

/** Whether the signature is missing. Of several calls at once only the first has one. */
function isUnsigned({ parts }: WireContent): boolean {
  const first = parts.find(isCall);
  return first !== undefined && first.thoughtSignature === undefined;
}

function withUnknownSignature(parts: readonly WirePart[]): readonly WirePart[] {
  const first = parts.find(isCall);
  return parts.map((part) =>
    part === first ? { ...part, thoughtSignature: UNKNOWN_THOUGHT_SIGNATURE } : part,
  );
}
