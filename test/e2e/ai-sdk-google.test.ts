import { createGoogle } from "@ai-sdk/google";
import { describeAiSdk } from "../support/ai-sdk-suite.ts";

for (const version of ["v1beta", "v1"]) {
  describeAiSdk(`google (${version})`, {
    name: "gemini-2.5-flash",
    thinking: { google: { thinkingConfig: { includeThoughts: true } } },
    model: (api, name) => createGoogle({ baseURL: `${api.gateway.url}/${version}`, apiKey: "sk-dev" })(name),
  });
}
