import { expect, it } from "vitest";
import { conversation, eventStream, FakeUpstream, neverAborted, prepareOptions } from "../support.ts";
import { answer, provider } from "./fake.ts";

/** What only this protocol has. What every driver must do is tested in `../drivers.test.ts`. */

it("a refused field is remembered for 200 models, and other models do not count", async () => {
  const fake = new FakeUpstream((request) => {
    const { model, top_k: topK } = request.json();
    return String(model).startsWith("picky") && topK !== undefined
      ? Response.json({ error: { message: "Unknown parameter: 'top_k'." } }, { status: 400 })
      : eventStream(answer);
  });
  const made = provider();
  /** How often the backend is asked. */
  const ask = async (upstream: string): Promise<number> => {
    const before = fake.seen.length;
    const asked = conversation({ options: { topK: 4 } });
    const model = { ...asked.model, id: `g/${upstream}`, upstream, provider: "g" };
    await made.prepare({ ...asked, model }, prepareOptions()).open(fake.account, neverAborted(), null);
    return fake.seen.length - before;
  };
  expect(await ask("picky")).toBe(2);
  for (let n = 0; n < 250; n += 1) await ask(`made-up-${n}`);
  expect(await ask("picky")).toBe(1);
  for (let n = 0; n < 200; n += 1) await ask(`picky-${n}`);
  expect([await ask("picky-199"), await ask("picky")]).toEqual([1, 2]);
});

it("the key is removed from a message, although the backend has masked a part of it", async () => {
  const error = { message: "Incorrect API key provided: token-*count", code: "invalid_api_key" };
  const fake = new FakeUpstream(() => Response.json({ error }, { status: 401 }));
  const opened = provider()
    .prepare(conversation(), prepareOptions())
    .open(fake.account, neverAborted(), null);
  expect(String(await opened.catch((failure: unknown) => failure))).not.toContain("token-*count");
});
