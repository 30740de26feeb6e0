import { expect, it } from "vitest";
import { redactEchoedInput } from "../../../../../src/gateway/providers/errors/redact-echoed-input.ts";

const REQUEST = {
  model: "m",
  messages: [{ role: "user", content: "Is seed not supported, and what is stream_options?" }],
  tools: [
    { type: "function", function: { name: "top_k", parameters: { properties: { min_p: {}, user: {} } } } },
  ],
};

it.each([
  ["tools[0].function.parameters.properties.min_p: bad", "min_p"],
  ["properties[user]: bad", "user"],
  ["unknown function 'top_k'", "top_k"],
  ["Unrecognized: stream_options", "stream_options"],
  ['{"detail":[{"loc":["body","tools",0,"properties","user"],"msg":"bad"}]}', "user"],
  ['{"error":{"message":"Schema \\"min_p\\" is bad","param":"min_p"}}', "min_p"],
])("parts of the request are removed from a refusal: %s", (refusal, name) => {
  expect(redactEchoedInput(refusal, REQUEST)).not.toContain(name);
});

it.each([
  ["seed is not supported"],
  ["Unknown name 'temperature' at x"],
  ['{"error":{"message":"Unknown parameter: \'top_p\'."}}'],
  ["the user's seed isn't supported, and can't be"],
  ["'model' and 'role' and \"function\" are not supported"],
])("the provider's own words in a refusal stay: %s", (refusal) => {
  expect(redactEchoedInput(refusal, REQUEST)).toBe(refusal);
});
