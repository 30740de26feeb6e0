import { expect, it } from "vitest";
import { readLogprobs } from "../../../../../src/gateway/providers/answers/logprobs.ts";

it("a token without a valid probability is left out, and so are invalid bytes", () => {
  const list: unknown = JSON.parse(
    '[{"token":"a","logprob":-2e308},{"token":"b","logprob":-1,"bytes":[98,2e308,1.5],"top_logprobs":[{"token":"c","logprob":2e308}]}]',
  );
  expect(readLogprobs(list)).toEqual([{ token: "b", logprob: -1, bytes: [98], top: [] }]);
});
