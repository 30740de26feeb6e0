import { KEY } from "../gateways.mjs";

/**
 * Provider settings of opencode and its forks: one provider for each API style, with the AI SDK's packages.
 *
 * @param {string} base
 */
function providers(base) {
  const provider = (npm, path, model) => ({
    npm,
    options: { baseURL: base + path, apiKey: KEY },
    models: { [model]: { name: model, tool_call: true } },
  });
  return {
    chat: provider("@ai-sdk/openai-compatible", "/v1", "gpt-4o"),
    messages: provider("@ai-sdk/anthropic", "/anthropic/v1", "claude-sonnet-4-5"),
    responses: provider("@ai-sdk/openai", "/v1", "gpt-5"),
    content: provider("@ai-sdk/google", "/v1beta", "gemini-2.5-pro"),
  };
}

/** API styles, and their models in {@link providers}. */
const MODELS = {
  "chat completions": "chat/gpt-4o",
  messages: "messages/claude-sonnet-4-5",
  responses: "responses/gpt-5",
  "content-generation": "content/gemini-2.5-pro",
};

/**
 * opencode, or a fork of it.
 *
 * @param {string} id also the name of its program and of its configuration
 * @param {string} title
 * @param {string[]} flags further arguments of a run
 * @returns {import("./play.mjs").Cli}
 */
export const createOpencode = (id, title, flags = []) => ({
  id,
  title,
  bin: id,
  files: (base) => ({
    [`.config/${id}/${id}.json`]: JSON.stringify({
      autoupdate: false,
      share: "disabled",
      permission: "allow",
      provider: providers(base),
    }),
  }),
  runs: () =>
    Object.entries(MODELS).map(([style, model]) => ({
      style,
      tool: "bash",
      input: (command) => ({ command, description: "run it" }),
      args: ["run", ...flags, "-m", model],
      stdin: true,
    })),
});

export const opencode = createOpencode("opencode", "opencode");
