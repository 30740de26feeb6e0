import { KEY } from "../gateways.mjs";

/** @type {import("./play.mjs").Cli} */
export const gemini = {
  id: "gemini",
  title: "Gemini CLI",
  bin: "gemini",
  files: () => ({
    ".gemini/settings.json": JSON.stringify({
      security: { auth: { selectedType: "gemini-api-key" } },
      privacy: { usageStatisticsEnabled: false },
      general: { disableAutoUpdate: true },
    }),
  }),
  runs: (base) => [
    {
      style: "content-generation",
      tool: "run_shell_command",
      input: (command) => ({ command }),
      args: ["-m", "gemini-2.5-pro", "--yolo", "-p", "{prompt}"],
      env: { GEMINI_API_KEY: KEY, GOOGLE_GEMINI_BASE_URL: base, GEMINI_CLI_TRUST_WORKSPACE: "true" },
    },
  ],
};
