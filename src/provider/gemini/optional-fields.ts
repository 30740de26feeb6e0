import { effortFor } from "../effort.ts";
import { either, type OptionalField, refused, sentence } from "../optional-fields.ts";
import { ownSchema } from "./own-schema.ts";
import type { WireCall, WireConfig, WireContent, WirePart, WireRequest, WireTool } from "./wire.ts";

/** Replaces an unknown thought signature. The protocol defines this value. */
const UNKNOWN_THOUGHT = "skip_thought_signature_validator";

/** Sampling fields that are only hints: the answer remains valid without them. */
const HINTS = ["topK", "seed"] as const satisfies readonly (keyof WireConfig)[];

const OPTIONAL_HINTS = HINTS.map(
  (name): OptionalField<WireRequest> => ({
    named: refused(name.replace("K", "_?[kK]")),
    present: ({ generationConfig }) => generationConfig[name] !== undefined,
    without: (request) => configured(request, ({ [name]: _, ...rest }) => rest),
  }),
);

const SEARCH =
  "(?:google_?search|search(?: as a tool| tools?| grounding)|built-in tools|tool use with function calling)";

type Change = Pick<OptionalField<WireRequest>, "present" | "without">;

/** The JSON schema of the answer. */
const SCHEMA: Change = {
  present: ({ generationConfig }) => generationConfig.responseJsonSchema !== undefined,
  without: (request) => configured(request, ({ responseJsonSchema: _, ...rest }) => rest),
};

/** The JSON schemas of the functions' arguments. */
const PARAMETERS: Change = {
  present: ({ tools = [] }) => tools.some(isInJsonSchema),
  without: ({ tools = [], ...rest }) => ({ ...rest, tools: tools.map(inOwnSchema) }),
};

/** Fields that not every backend or model supports. The patterns match the error messages of the real service. */
export const OPTIONAL_FIELDS: readonly OptionalField<WireRequest>[] = [
  ...OPTIONAL_HINTS,
  {
    named: refused("\\w*penalt(?:y|ies)"),
    present: ({ generationConfig: { presencePenalty, frequencyPenalty } }) =>
      presencePenalty !== undefined || frequencyPenalty !== undefined,
    without: (request) =>
      configured(request, ({ presencePenalty: _, frequencyPenalty: __, ...rest }) => rest),
  },
  {
    // A model that always thinks needs no configuration for it.
    named: either(refused("thinking[ _]?budget"), /budget \(?0\)? is invalid|only works in thinking mode/),
    present: ({ generationConfig: { thinkingConfig } }) => thinkingConfig?.thinkingBudget === 0,
    without: (request) => configured(request, ({ thinkingConfig: _, ...rest }) => rest),
  },
  {
    // Newer models have levels instead of budgets. If a budget is out of range, the caller must correct it.
    named: either(
      sentence("thinking[ _]?budget", "not supported"),
      /unknown name \\?"thinking_?budget|use thinking[ _]?level/,
    ),
    present: ({ generationConfig: { thinkingConfig } }) => (thinkingConfig?.thinkingBudget ?? 0) > 0,
    without: (request) =>
      configured(request, ({ thinkingConfig, ...rest }) => ({
        ...rest,
        thinkingConfig: {
          includeThoughts: true,
          thinkingLevel: effortFor(thinkingConfig?.thinkingBudget ?? 0).toUpperCase(),
        },
      })),
  },
  {
    // The model cannot think, or the server does not know the field.
    named: either(
      sentence("think(?:ing)?(?!\\w{0,80}[ _]?budget)", "not (?:supported|enabled)|unsupported"),
      /unknown name \\?"thinking_?(?:config|level)/,
    ),
    present: ({ generationConfig: { thinkingConfig } }) => thinkingConfig !== undefined,
    without: (request) => configured(request, ({ thinkingConfig: _, ...rest }) => rest),
  },
  {
    // A model that cannot search, or not together with the caller's functions, answers from its own knowledge.
    named: either(
      refused(SEARCH),
      sentence(SEARCH, "cannot be combined"),
      sentence("supported only", SEARCH),
    ),
    present: ({ tools = [] }) => tools.some((tool) => "googleSearch" in tool),
    without: ({ tools = [], ...rest }) => {
      const others = tools.filter((tool) => !("googleSearch" in tool));
      return { ...rest, ...(others.length === 0 ? {} : { tools: others }) };
    },
  },
  {
    // The prompt also describes the schema, and a whole answer is validated against it.
    named: refused("response_?(?:json_?)?schema"),
    ...SCHEMA,
  },
  {
    // A rejected schema says nothing about other schemas, so the refusal is not remembered.
    named: /response_?(?:json_?)?schema|too many states/i,
    ...SCHEMA,
    passing: true,
  },
  {
    named: either(
      sentence("mime[ _]?type|json mode", "unsupported|not (?:supported|enabled)"),
      /unknown name \\?"response_?mime/,
    ),
    present: ({ generationConfig }) => generationConfig.responseMimeType !== undefined,
    without: (request) =>
      configured(request, ({ responseMimeType: _, responseJsonSchema: __, ...rest }) => rest),
  },
  {
    // Small models accept no system instruction, so the instruction is sent as user text.
    named: refused("(?:developer|system)[_ ]?instructions?"),
    present: ({ systemInstruction }) => systemInstruction !== undefined,
    without: ({ systemInstruction, contents, ...rest }) => ({
      ...rest,
      contents: [{ role: "user", parts: systemInstruction?.parts ?? [] }, ...contents],
    }),
  },
  {
    named: refused("parameters_?json_?schema"),
    ...PARAMETERS,
  },
  {
    named: /parameters_?json_?schema/i,
    ...PARAMETERS,
    passing: true,
  },
  {
    named: /unknown name \\?"id\\?"/i,
    present: ({ contents }) => contents.some(({ parts }) => parts.some(hasId)),
    without: (request) => withParts(request, ({ parts }) => parts.map(withoutId)),
  },
  {
    // Newer models require the earlier thought signatures, or the value for an unknown signature.
    named: /missing (?:a )?`?thought_?\s?signature/i,
    present: ({ contents }) => contents.some(isUnsigned),
    without: (request) =>
      withParts(request, (content) => (isUnsigned(content) ? signed(content.parts) : content.parts)),
  },
  {
    // Accounts of one pool may have different owners, and a backend may reject what it issued to another owner.
    named:
      /(?:invalid|corrupted) `?thought[ _]?signature|thought[ _]?signature`? is (?:not valid|invalid|corrupted)/i,
    present: ({ contents }) => contents.some(({ parts }) => parts.some(isSigned)),
    without: (request) =>
      withParts(request, ({ parts }) =>
        parts.map((part) => (isSigned(part) ? { ...part, thoughtSignature: UNKNOWN_THOUGHT } : part)),
      ),
    passing: true,
  },
];

function configured(request: WireRequest, change: (config: WireConfig) => WireConfig): WireRequest {
  return { ...request, generationConfig: change(request.generationConfig) };
}

function withParts(request: WireRequest, change: (content: WireContent) => readonly WirePart[]): WireRequest {
  const contents = request.contents.map((content) => ({ ...content, parts: change(content) }));
  return { ...request, contents };
}

function isInJsonSchema(tool: WireTool): boolean {
  return (
    "functionDeclarations" in tool &&
    tool.functionDeclarations.some(({ parametersJsonSchema }) => parametersJsonSchema !== undefined)
  );
}

function inOwnSchema(tool: WireTool): WireTool {
  if (!("functionDeclarations" in tool)) return tool;
  const functionDeclarations = tool.functionDeclarations.map(({ parametersJsonSchema: schema, ...rest }) => ({
    ...rest,
    ...(schema === undefined ? {} : { parameters: ownSchema(schema) }),
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

function isCall(part: WirePart): part is WireCall {
  return "functionCall" in part;
}

function isSigned(part: WirePart): part is WireCall {
  return isCall(part) && part.thoughtSignature !== undefined && part.thoughtSignature !== UNKNOWN_THOUGHT;
}

/** Whether the signature is missing. Of several calls at once only the first has one. */
function isUnsigned({ parts }: WireContent): boolean {
  const first = parts.find(isCall);
  return first !== undefined && first.thoughtSignature === undefined;
}

function signed(parts: readonly WirePart[]): readonly WirePart[] {
  const first = parts.find(isCall);
  return parts.map((part) => (part === first ? { ...part, thoughtSignature: UNKNOWN_THOUGHT } : part));
}
