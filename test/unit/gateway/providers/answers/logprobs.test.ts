import { expect, it } from "vitest";
import { readLogprobs } from "../../../../../src/gateway/providers/answers/logprobs.ts";

it("a token whose probability is no number is left out, and so are bytes that are none", () => {
  const list: unknown = JSON.parse(
    '[{"token":"a","logprob":-2e308},{"token":"b","logprob":-1,"bytes":[98,2e308,1.5],"top_logprobs":[{"token":"c","logprob":2e308}]}]',
  );
  expect(readLogprobs(list)).toEqual([{ token: "b", logprob: -1, bytes: [98], top: [] }]);
});
