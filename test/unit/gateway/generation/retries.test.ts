import { describe, expect, test } from "vitest";
import { BodyReader } from "../../../support/body-reader.ts";
import { GenerationRun } from "../../../support/generation-run.ts";
import { managed, pass, passThrough, useMemoryGateway } from "../../../support/memory-gateway.ts";
import { accountNamed } from "../../../support/memory-platform.ts";
import { accountOf, refuses, says, thinksOnly } from "../../../support/upstream-scripts.ts";

const createGateway = useMemoryGateway();

const EMPTY = { status: 429, code: "upstream_empty_output" };

describe("a turn that ends with nothing visible (docs/contract.md, general rule 7)", () => {
  test("gets one follow-up in its session, with a suffix that requests the answer", async () => {
    const gateway = await createGateway({ turns: [thinksOnly(), says("Here it is.")] });
    const run = new GenerationRun(gateway);
    expect(await run.complete()).toMatchObject({ text: "Here it is.", sessionId: "session-1" });
    const [first, second] = gateway.turns.map((turn) => turn.json());
    expect(gateway.turns.map(({ path }) => path)).toEqual(Array(2).fill("/api/sessions/session-1/turns"));
    expect(first).toMatchObject({ parent_message_id: null });
    expect(second).toMatchObject({ parent_message_id: "message-1" });
    expect(String(second?.["prompt"])).toContain("Your previous reply had no visible content.");
    expect(run.context.facts.retries).toBe(1);
  });

  test.each(["length", "content_filter"] as const)(
    "is reported at once with the reason %s, because a retry would end equally",
    async (reason) => {
      const gateway = await createGateway({ turns: [says("", { reasoning: "Hm.", finish: reason })] });
      expect(await new GenerationRun(gateway).complete()).toMatchObject({ text: "", finishReason: reason });
      expect(gateway.turns).toHaveLength(1);
    },
  );

  test("goes to another account with the original question if the follow-up is empty, too", async () => {
    const gateway = await createGateway({ turns: [thinksOnly(), thinksOnly(), says("Here.")] });
    const run = new GenerationRun(gateway);
    expect(await run.complete()).toMatchObject({ text: "Here.", sessionId: "session-2" });
    expect(gateway.turns.map(accountOf)).toEqual(["one@test", "one@test", "two@test"]);
    const [first, , third] = gateway.turns.map((turn) => turn.json());
    expect(third).toEqual(first);
    expect(run.context.facts.retries).toBe(2);
  });

  test("gets no follow-up with the other account, and no third account", async () => {
    const accounts = ["one", "two", "three"].map((name) => accountNamed(`${name}@test`));
    const gateway = await createGateway({ turns: [thinksOnly()], config: { accounts } });
    await expect(new GenerationRun(gateway).complete()).rejects.toMatchObject(EMPTY);
    expect(gateway.turns.map(accountOf)).toEqual(["one@test", "one@test", "two@test"]);
  });

  test("stays with the pinned account", async () => {
    const gateway = await createGateway({ turns: [thinksOnly()] });
    const run = new GenerationRun(gateway, { caller: managed("two@test") });
    await expect(run.complete()).rejects.toMatchObject(EMPTY);
    expect(gateway.turns.map(accountOf)).toEqual(["two@test", "two@test"]);
  });

  test("stays with the pass-through caller's own token", async () => {
    const gateway = await createGateway({ turns: [thinksOnly()] });
    const run = new GenerationRun(gateway, { caller: passThrough("own-token") });
    await expect(run.complete()).rejects.toMatchObject(EMPTY);
    expect(gateway.turns.map(({ token }) => token)).toEqual(["own-token", "own-token"]);
  });

  test("ends with its own error if there is no other account", async () => {
    const gateway = await createGateway({
      turns: [thinksOnly()],
      config: { accounts: [accountNamed("one@test")] },
    });
    await expect(new GenerationRun(gateway).complete()).rejects.toMatchObject(EMPTY);
    expect(gateway.turns).toHaveLength(2);
  });

  test("does not use an account that cools down", async () => {
    const gateway = await createGateway({ turns: [refuses(403, "account_suspended"), thinksOnly()] });
    const suspended = new GenerationRun(gateway, { caller: managed("two@test") });
    await expect(suspended.complete()).rejects.toMatchObject({ code: "upstream_unavailable" });
    await expect(new GenerationRun(gateway).complete()).rejects.toMatchObject(EMPTY);
    expect(gateway.turns.map(accountOf)).toEqual(["two@test", "one@test", "one@test"]);
  });

  test("waits for the other account if it is busy", async () => {
    const gateway = await createGateway({
      turns: [{ late: 30_000, reply: says("Slow.") }, thinksOnly(), thinksOnly(), says("Here.")],
      config: { runtime: { account_max_inflight: 1 } },
    });
    const slow = new GenerationRun(gateway, { caller: managed("two@test") }).complete();
    await pass(1_000);
    const waiting = new GenerationRun(gateway).complete();
    await pass(1_000);
    expect(await gateway.platform.accounts.getStatus()).toMatchObject({ waiting: 1 });
    await pass(30_000);
    expect(await slow).toMatchObject({ text: "Slow." });
    expect(await waiting).toMatchObject({ text: "Here." });
    expect(gateway.turns.map(accountOf)).toEqual(["two@test", "one@test", "one@test", "two@test"]);
  });

  test("treats white space as nothing visible", async () => {
    const blank = says(" \n\t ", { reasoning: "Hm.", chunks: 1 });
    const gateway = await createGateway({ turns: [blank, says("Here.")] });
    expect(await new GenerationRun(gateway).complete()).toMatchObject({ text: "Here." });
    expect(gateway.turns).toHaveLength(2);
  });

  test.each(["complete", "stream"])(
    "is accepted as an empty answer if the model did not reason (%s)",
    async (way) => {
      const gateway = await createGateway({ turns: [says(""), says("Here.")] });
      const run = new GenerationRun(gateway);
      if (way === "complete") expect(await run.complete()).toMatchObject({ text: "", finishReason: "stop" });
      else {
        const reader = new BodyReader(await run.stream());
        await gateway.settle();
        expect(reader).toMatchObject({ text: "^.stop", state: "ended" });
      }
      expect(gateway.turns).toHaveLength(1);
    },
  );

  test("is accepted if a filter withheld the answer", async () => {
    const gateway = await createGateway({
      turns: [says("", { reasoning: "Hm.", finish: "content_filter" })],
    });
    expect(await new GenerationRun(gateway).complete()).toMatchObject({
      text: "",
      finishReason: "content_filter",
    });
    expect(gateway.turns).toHaveLength(1);
  });

  test("is the stream's error event if reasoning was sent", async () => {
    const gateway = await createGateway({ turns: [thinksOnly("Hm.")] });
    const run = new GenerationRun(gateway, { conversation: { thinking: true, showReasoning: true } });
    const reader = new BodyReader(await run.stream());
    await gateway.settle();
    expect(reader).toMatchObject({ text: "^(Hm.)(Hm.)(Hm.)!upstream_empty_output", state: "ended" });
  });

  test("is an HTTP status if nothing was sent", async () => {
    const gateway = await createGateway({ turns: [thinksOnly("Hm.")] });
    await expect(new GenerationRun(gateway).stream()).rejects.toMatchObject(EMPTY);
  });
});
