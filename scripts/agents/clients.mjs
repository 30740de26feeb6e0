/**
 * The coding agents that are run against the gateway: how each is installed, pointed at it and asked one thing.
 *
 * @typedef {object} Run
 * @property {string} name what the table calls it
 * @property {string} dialect the API style that it speaks here
 * @property {string} tool the name of its shell tool
 * @property {(command: string) => unknown} input the tool's input that runs a shell command
 * @property {string[]} args
 * @property {Record<string, string>} [env]
 * @property {boolean} [stdin] the prompt goes to standard input instead of the arguments
 *
 * @typedef {object} Agent
 * @property {string} package
 * @property {string} version
 * @property {string} bin
 * @property {Record<string, string>} files configuration, by path below the home folder
 * @property {string[][]} [setup] commands run once, before the runs
 * @property {Run[]} runs
 */

const KEY = "sk-dev";
const PROMPT = "{prompt}";

/**
 * @param {string} base the gateway's address, without a slash at its end
 * @returns {Agent[]}
 */
export function agents(base) {
  const shell = (command) => ({ command, description: "run it" });
  return [
    {
      package: "@anthropic-ai/claude-code",
      version: "2.1.329",
      bin: "claude",
      files: {},
      runs: [
        {
          name: "Claude Code",
          dialect: "messages",
          tool: "Bash",
          input: shell,
          args: ["-p", PROMPT, "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"],
          env: {
            ANTHROPIC_BASE_URL: `${base}/vendorb`,
            ANTHROPIC_API_KEY: KEY,
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
            DISABLE_AUTOUPDATER: "1",
          },
        },
      ],
    },
    {
      package: "@openai/codex",
      version: "0.169.0",
      bin: "codex",
      files: {
        ".codex/config.toml": `model = "gpt-5-codex"
model_provider = "polygate"
[model_providers.polygate]
name = "Polygate"
base_url = "${base}/v1"
env_key = "POLYGATE_KEY"
wire_api = "responses"
`,
      },
      runs: [
        {
          name: "Codex CLI",
          dialect: "responses",
          tool: "exec_command",
          input: (command) => ({ cmd: command }),
          args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT],
          env: { POLYGATE_KEY: KEY },
        },
      ],
    },
    {
      package: "@google/gemini-cli",
      version: "0.61.0",
      bin: "gemini",
      files: {
        ".gemini/settings.json": JSON.stringify({
          security: { auth: { selectedType: "gemini-api-key" } },
          privacy: { usageStatisticsEnabled: false },
          general: { disableAutoUpdate: true },
        }),
      },
      runs: [
        {
          name: "Gemini CLI",
          dialect: "content-generation",
          tool: "run_shell_command",
          input: (command) => ({ command }),
          args: ["-m", "gemini-2.5-pro", "--yolo", "-p", PROMPT],
          env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: base, GEMINI_CLI_TRUST_WORKSPACE: "true" },
        },
      ],
    },
    {
      package: "@qwen-code/qwen-code",
      version: "0.24.4",
      bin: "qwen",
      files: {},
      runs: [
        {
          name: "qwen-code",
          dialect: "chat completions",
          tool: "run_shell_command",
          input: (command) => ({ command, is_background: false }),
          args: ["--auth-type", "openai", "--yolo", "-p", PROMPT],
          env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${base}/v1`, OPENAI_MODEL: "qwen3-coder-plus" },
        },
      ],
    },
    {
      package: "opencode-ai",
      version: "1.18.33",
      bin: "opencode",
      files: { ".config/opencode/opencode.json": JSON.stringify(opencodeConfig(base)) },
      runs: [
        ["chat completions", "chat/gpt-4o"],
        ["messages", "messages/claude-sonnet-4-5"],
        ["responses", "responses/gpt-5"],
        ["content-generation", "content/gemini-2.5-pro"],
      ].map(([dialect, model]) => ({
        name: "opencode",
        dialect,
        tool: "bash",
        input: shell,
        args: ["run", "-m", model],
        stdin: true,
      })),
    },
    {
      package: "@mariozechner/pi-coding-agent",
      version: "0.73.1",
      bin: "pi",
      files: { ".pi/agent/models.json": JSON.stringify(piConfig(base)) },
      runs: [
        ["chat completions", "chat", "gpt-4o"],
        ["messages", "messages", "claude-sonnet-4-5"],
        ["responses", "responses", "gpt-5"],
        ["content-generation", "content", "gemini-2.5-pro"],
      ].map(([dialect, provider, model]) => ({
        name: "pi",
        dialect,
        tool: "bash",
        input: (command) => ({ command }),
        args: ["--provider", provider, "--model", model, "-p", PROMPT],
        env: { PI_OFFLINE: "1" },
      })),
    },
    {
      package: "cline",
      version: "3.0.65",
      bin: "cline",
      files: {},
      setup: [
        [
          "auth",
          "--provider",
          "openai-compatible",
          "--apikey",
          KEY,
          "--modelid",
          "gpt-4o",
          "--baseurl",
          `${base}/v1`,
        ],
      ],
      runs: [
        {
          name: "cline",
          dialect: "chat completions",
          tool: "run_commands",
          input: (command) => ({ commands: [command] }),
          args: ["-P", "openai-compatible", "-m", "gpt-4o", "-k", KEY, PROMPT],
        },
      ],
    },
    {
      package: "@continuedev/cli",
      version: "1.5.47",
      bin: "cn",
      files: {
        "chat.yaml": continueConfig("openai", "gpt-4o", `${base}/v1`),
        "messages.yaml": continueConfig("anthropic", "claude-sonnet-4-5", `${base}/vendorb/v1`),
      },
      runs: [
        ["chat completions", "chat.yaml"],
        ["messages", "messages.yaml"],
      ].map(([dialect, file]) => ({
        name: "Continue",
        dialect,
        tool: "Bash",
        input: (command) => ({ command }),
        args: ["--config", `{home}/${file}`, "--auto", "-p", PROMPT],
        env: { CONTINUE_TELEMETRY_ENABLED: "0" },
      })),
    },
  ];
}

function opencodeConfig(base) {
  const provider = (npm, path, model) => ({
    npm,
    options: { baseURL: base + path, apiKey: KEY },
    models: { [model]: { name: model, tool_call: true } },
  });
  return {
    autoupdate: false,
    share: "disabled",
    permission: "allow",
    provider: {
      chat: provider("@ai-sdk/openai-compatible", "/v1", "gpt-4o"),
      messages: provider("@ai-sdk/anthropic", "/vendorb/v1", "claude-sonnet-4-5"),
      responses: provider("@ai-sdk/openai", "/v1", "gpt-5"),
      content: provider("@ai-sdk/google", "/v1beta", "gemini-2.5-pro"),
    },
  };
}

function piConfig(base) {
  const provider = (api, path, id) => ({ baseUrl: base + path, api, apiKey: KEY, models: [{ id }] });
  return {
    providers: {
      chat: provider("openai-completions", "/v1", "gpt-4o"),
      messages: provider("anthropic-messages", "/vendorb", "claude-sonnet-4-5"),
      responses: provider("openai-responses", "/v1", "gpt-5"),
      content: provider("google-generative-ai", "/v1beta", "gemini-2.5-pro"),
    },
  };
}

function continueConfig(provider, model, apiBase) {
  return `name: polygate
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
}
