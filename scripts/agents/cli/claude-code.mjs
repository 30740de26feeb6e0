import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const claudeCode = {
  id: "claude-code",
  title: "Claude Code",
  bin: "claude",
  runs: (base) => [
    {
      style: "messages",
      tool: "Bash",
      input: (command) => ({ command, description: "run it" }),
      args: ["-p", "{prompt}", "--model", "claude-sonnet-4-5", "--allowedTools", "Bash"],
      env: {
        ANTHROPIC_BASE_URL: `${base}/anthropic`,
        ANTHROPIC_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        DISABLE_AUTOUPDATER: "1",
      },
    },
  ],
};
