import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const continueCli = {
  id: "continue",
  title: "Continue",
  bin: "cn",
  files: (base) => ({
    "chat.yaml": config("openai", "gpt-4o", `${base}/v1`),
    "messages.yaml": config("anthropic", "claude-sonnet-4-5", `${base}/anthropic/v1`),
  }),
  runs: () =>
    [
      ["chat completions", "chat.yaml"],
      ["messages", "messages.yaml"],
    ].map(([style, file]) => ({
      style,
      tool: "Bash",
      input: (command) => ({ command }),
      args: ["--config", `{home}/${file}`, "--auto", "-p", "{prompt}"],
      env: { CONTINUE_TELEMETRY_ENABLED: "0" },
    })),
};

const config = (provider, model, apiBase) => `name: polygate
version: 0.0.1
schema: v1
models:
  - name: polygate
    provider: ${provider}
    model: ${model}
    apiBase: ${apiBase}
    apiKey: ${KEY}
    roles: [chat]
    capabilities: [tool_use]
`;
