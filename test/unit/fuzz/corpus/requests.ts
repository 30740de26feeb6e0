const model = "provider-v4-vision";
const schema = {
  type: "object",
  properties: { city: { type: "string" }, days: { type: "array", items: { type: "integer" } } },
  required: ["city"],
};
const png = "data:image/png;base64,iVBORw0KGgo=";
const chatTool = { type: "function", function: { name: "run", description: "Runs.", parameters: schema } };

const chat = {
  model,
  stream: true,
  temperature: 0.5,
  stop: ["x"],
  reasoning_effort: "high",
  response_format: { type: "json_schema", json_schema: { name: "a", schema } },
  tool_choice: { type: "function", function: { name: "run" } },
  tools: [chatTool, { type: "custom", custom: { name: "free" } }],
  messages: [
    { role: "system", content: "Be kind." },
    {
      role: "user",
      name: "Ann",
      content: [
        { type: "text", text: "Hi" },
        { type: "image_url", image_url: { url: png } },
      ],
    },
    {
      role: "assistant",
      content: null,
      reasoning_content: "Hm.",
      tool_calls: [{ id: "c1", type: "function", function: { name: "run", arguments: '{"city":"Bern"}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "ok" },
    {
      role: "user",
      content: [{ type: "file", file: { filename: "a.txt", file_data: "data:text/plain,hello" } }],
    },
  ],
};

const responses = {
  model,
  instructions: "Be kind.",
  input: [
    {
      role: "user",
      content: [
        { type: "input_text", text: "Hi" },
        { type: "input_image", image_url: png },
      ],
    },
    { type: "reasoning", summary: [{ type: "summary_text", text: "Hm." }] },
    { type: "function_call", call_id: "c1", name: "run", arguments: "{}" },
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "ok" }] },
    { type: "custom_tool_call", call_id: "c2", name: "free", input: "x" },
    { type: "custom_tool_call_output", call_id: "c2", output: "y" },
  ],
  tools: [
    { type: "function", name: "run", parameters: schema, strict: true },
    { type: "custom", name: "free", format: { type: "grammar", syntax: "lark", definition: "start: /a/" } },
    { type: "namespace", name: "n", tools: [{ type: "function", name: "run" }] },
    { type: "web_search" },
  ],
  tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "run" }] },
  text: { format: { type: "json_schema", name: "a", schema } },
  reasoning: { effort: "low", summary: "auto" },
};

const messages = {
  model,
  max_tokens: 100,
  system: [{ type: "text", text: "Be kind." }],
  thinking: { type: "enabled", budget_tokens: 1024 },
  tools: [{ name: "run", description: "Runs.", input_schema: schema }],
  tool_choice: { type: "tool", name: "run" },
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Hi" },
        { type: "image", source: { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" } },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "hello" }, title: "a" },
      ],
    },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "text", text: "Well." },
        { type: "tool_use", id: "c1", name: "run", input: { city: "Bern" } },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c1", is_error: true, content: [{ type: "text", text: "no" }] },
      ],
    },
  ],
};

const contents = {
  systemInstruction: { parts: [{ text: "Be kind." }] },
  contents: [
    {
      role: "user",
      parts: [{ text: "Hi" }, { inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } }],
    },
    {
      role: "model",
      parts: [{ text: "Hm.", thought: true }, { functionCall: { name: "run", args: { city: "Bern" } } }],
    },
    { role: "user", parts: [{ functionResponse: { name: "run", response: { output: "ok" } } }] },
  ],
  tools: [
    {
      functionDeclarations: [
        { name: "run", parameters: { type: "OBJECT", properties: { city: { type: "STRING" } } } },
      ],
    },
  ],
  toolConfig: { functionCallingConfig: { mode: "ANY", allowedFunctionNames: ["run"] } },
  generationConfig: {
    temperature: 1,
    responseMimeType: "application/json",
    responseSchema: { type: "OBJECT" },
  },
};

const runner = {
  model,
  format: schema,
  options: { temperature: 0, num_predict: 9 },
  think: true,
  tools: [chatTool],
  messages: [
    { role: "user", content: "Hi", images: ["iVBORw0KGgo="] },
    {
      role: "assistant",
      content: "",
      tool_calls: [{ function: { name: "run", arguments: { city: "Bern" } } }],
    },
    { role: "tool", tool_name: "run", content: "ok" },
  ],
};

/** Requests that use much of each style, as JSON text. */
export const REQUESTS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    "chat-completions": [chat, { model, messages: [{ role: "user", content: "Hi" }] }],
    completions: [{ model, prompt: ["Hi", "there"], suffix: "end", echo: true, stop: "x", logprobs: 1 }],
    responses: [responses, { model, input: "Hi" }],
    messages: [messages, { model, max_tokens: 1, messages: [{ role: "user", content: "Hi" }] }],
    "content-generation": [contents, { contents: "Hi" }],
    "model-runner": [runner],
    "model-runner, generate": [
      { model, prompt: "Hi", system: "Be kind.", images: ["iVBORw0KGgo="], format: "json" },
    ],
  }).map(([dialect, bodies]) => [dialect, bodies.map((body) => JSON.stringify(body))]),
);
