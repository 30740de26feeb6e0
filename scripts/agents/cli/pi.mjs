import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const pi = {
  id: "pi",
  title: "pi",
  bin: "pi",
  files: (base) => {
    const provider = (api, path, id) => ({ baseUrl: base + path, api, apiKey: KEY, models: [{ id }] });
    return {
      ".pi/agent/models.json": JSON.stringify({
        providers: {
          chat: provider("openai-completions", "/v1", "gpt-4o"),
          messages: provider("anthropic-messages", "/anthropic", "claude-sonnet-4-5"),
          responses: provider("openai-responses", "/v1", "gpt-5"),
          content: provider("google-generative-ai", "/v1beta", "gemini-2.5-pro"),
        },
      }),
    };
  },
  runs: () =>
    [
      ["chat completions", "chat", "gpt-4o"],
      ["messages", "messages", "claude-sonnet-4-5"],
      ["responses", "responses", "gpt-5"],
      ["content-generation", "content", "gemini-2.5-pro"],
    ].map(([style, provider, model]) => ({
      style,
      tool: "bash",
      input: (command) => ({ command }),
      args: ["--provider", provider, "--model", model, "-p", "{prompt}"],
      env: { PI_OFFLINE: "1" },
    })),
};
