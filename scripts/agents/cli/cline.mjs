import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
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
  daemon: (home) => {
    const hub = join(home, ".cline", "data", "locks", "hub", "production.json");
    return existsSync(hub) ? JSON.parse(readFileSync(hub, "utf8")).pid : undefined;
  },
};
