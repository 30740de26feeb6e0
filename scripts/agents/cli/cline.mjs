import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const cline = {
  id: "cline",
  title: "cline",
  bin: "cline",
  setup: (base) => [
    [
      ...["auth", "--provider", "openai-compatible", "--apikey", KEY],
      ...["--modelid", "gpt-4o", "--baseurl", `${base}/v1`],
    ],
  ],
  runs: () => [
    {
      style: "chat completions",
      tool: "run_commands",
      input: (command) => ({ commands: [command] }),
      args: ["-P", "openai-compatible", "-m", "gpt-4o", "-k", KEY, "{prompt}"],
    },
  ],
};
