import { createAnthropic } from "@ai-sdk/anthropic";
import { describeAiSdk } from "../support/ai-sdk-suite.ts";

for (const prefix of ["/vendorb/v1", "/anthropic/v1", "/v1"]) {
  describeAiSdk(`anthropic (${prefix})`, {
    name: "claude-sonnet-5-5",
    thinking: { anthropic: { thinking: { type: "adaptive" } } },
    model: (api, name) => createAnthropic({ baseURL: `${api.gateway.url}${prefix}`, apiKey: "sk-dev" })(name),
  });
}
