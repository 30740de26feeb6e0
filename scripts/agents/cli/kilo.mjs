import { MODELS, providers } from "./opencode.mjs";

/** @type {import("./play.mjs").Cli} */
export const kilo = {
  id: "kilo",
  title: "Kilo CLI",
  bin: "kilo",
  files: (base) => ({
    ".config/kilo/kilo.json": JSON.stringify({
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
      args: ["run", "--auto", "-m", model],
      stdin: true,
    })),
};
