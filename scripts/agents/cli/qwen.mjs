import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const qwen = {
  id: "qwen",
  title: "qwen-code",
  bin: "qwen",
  runs: (base) => [
    {
      style: "chat completions",
      tool: "run_shell_command",
      input: (command) => ({ command, is_background: false }),
      args: ["--auth-type", "openai", "--yolo", "-p", "{prompt}"],
      env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${base}/v1`, OPENAI_MODEL: "qwen3-coder-plus" },
    },
  ],
};
