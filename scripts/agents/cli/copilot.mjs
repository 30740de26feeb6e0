import { KEY } from "../gateways.mjs";

/** API styles: the CLI's settings, and the path of the gateway. */
const STYLES = {
  "chat completions": { path: "/v1", model: "gpt-4o", env: { COPILOT_PROVIDER_WIRE_API: "completions" } },
  responses: { path: "/v1", model: "gpt-5", env: { COPILOT_PROVIDER_WIRE_API: "responses" } },
  "responses over WebSocket": {
    path: "/v1",
    model: "gpt-5",
    env: { COPILOT_PROVIDER_WIRE_API: "responses", COPILOT_PROVIDER_TRANSPORT: "websockets" },
  },
  messages: { path: "/anthropic", model: "claude-sonnet-4-5", env: { COPILOT_PROVIDER_TYPE: "anthropic" } },
};

/** @type {import("./play.mjs").Cli} */
export const copilot = {
  id: "copilot",
  title: "GitHub Copilot CLI",
  bin: "copilot",
  runs: (base) =>
    Object.entries(STYLES).flatMap(([style, { path, model, env }]) =>
      ["on", "off"].map((stream) => ({
        style,
        way: stream === "on" ? "streamed" : "whole",
        tool: "bash",
        input: (command) => ({ command, description: "run it" }),
        args: ["-p", "{prompt}", "--allow-all-tools", "--stream", stream],
        env: {
          COPILOT_OFFLINE: "true",
          COPILOT_AUTO_UPDATE: "false",
          COPILOT_PROVIDER_BASE_URL: base + path,
          COPILOT_PROVIDER_API_KEY: KEY,
          COPILOT_MODEL: model,
          ...env,
        },
      })),
    ),
};
