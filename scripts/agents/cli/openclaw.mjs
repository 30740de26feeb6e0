import { KEY } from "../gateways.mjs";

/** API styles: openclaw's adapter, the path of the gateway, and a model. */
const STYLES = {
  "chat completions": ["openai-completions", "/v1", "gpt-4o"],
  messages: ["anthropic-messages", "/anthropic", "claude-sonnet-4-5"],
  responses: ["openai-responses", "/v1", "gpt-5"],
  "content-generation": ["google-generative-ai", "/v1beta", "gemini-2.5-pro"],
  "local-runner": ["ollama", "", "llama3.1"],
};

/** @type {import("./play.mjs").Cli} */
export const openclaw = {
  id: "openclaw",
  title: "OpenClaw",
  bin: "openclaw",
  files: (base) => ({
    "openclaw.json": JSON.stringify({
      update: { checkOnStart: false },
      models: {
        providers: Object.fromEntries(
          Object.values(STYLES).map(([api, path, id]) => [
            `my-${api}`,
            { baseUrl: base + path, api, apiKey: KEY, models: [{ id, name: id }] },
          ]),
        ),
      },
      // With more tools it adds a user message about processes and sub-agents after the prompt.
      tools: { allow: ["exec"], exec: { host: "gateway", mode: "full" } },
    }),
  }),
  runs: () =>
    Object.entries(STYLES).map(([style, [api, , model]]) => ({
      style,
      tool: "exec",
      input: (command) => ({ command }),
      args: [
        ...["agent", "exec", "{prompt}", "--cwd", ".", "--config", "{home}/openclaw.json"],
        ...["--no-auth-env-only", "--code-mode", "direct", "--model", `my-${api}/${model}`],
      ],
    })),
};
