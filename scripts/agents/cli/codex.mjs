import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const codex = {
  id: "codex",
  title: "Codex CLI",
  bin: "codex",
  files: (base) => ({
    ".codex/config.toml": `model = "gpt-5-codex"
model_provider = "polygate"
[model_providers.polygate]
name = "Polygate"
base_url = "${base}/v1"
env_key = "POLYGATE_KEY"
wire_api = "responses"
`,
  }),
  runs: () => [
    {
      style: "responses",
      tool: "exec_command",
      input: (command) => ({ cmd: command }),
      args: ["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "{prompt}"],
      env: { POLYGATE_KEY: KEY },
    },
  ],
};
