import { describe, expect, it } from "vitest";
import { MemoryBudget } from "../../../../../src/core/http/memory-budget.ts";
import type { StoredResponse } from "../../../../../src/core/ports/responses.ts";
import { createInputItemId, createItemId } from "../../../../../src/gateway/dialects/responses/ids.ts";
import { toOutputItems } from "../../../../../src/gateway/dialects/responses/output.ts";
import {
  readPreviousResponse,
  resolveReferences,
} from "../../../../../src/gateway/dialects/responses/references.ts";
import { objectOf, RESPONSE_ID, turnOf, USAGE } from "./support.ts";

async function storeWithAnswer() {
  const kept = new Map<string, StoredResponse>();
  const store = {
    get: async (id: string) => kept.get(id) ?? null,
    put: async (response: StoredResponse) => void kept.set(response.id, response),
    remove: async (id: string) => kept.delete(id),
  };
  const output = toOutputItems(
    {
      sessionId: "s",
      text: "Hello",
      reasoning: "hm",
      toolCalls: [{ id: "call_1", name: "f", arguments: "{}" }],
      finishReason: "tool_calls",
      usage: USAGE,
    },
    RESPONSE_ID,
    turnOf({ input: "hi" }).tools,
  );
  const body = objectOf().build(
    { status: "ended", reason: "tool_calls", usage: USAGE, completedAt: 1 },
    output,
  );
  await store.put({ id: RESPONSE_ID, body: JSON.stringify(body), messages: [], expiresAt: 1000 });
  return { store, output };
}

const hold = (bytes = 1_000_000) => new MemoryBudget(bytes).createReservation();

describe("references to stored items", () => {
  it("count in the memory budget with everything that they load", async () => {
    const { store, output } = await storeWithAnswer();
    const references = output.map(({ id }) => ({ type: "item_reference", id }));
    await expect(resolveReferences(references, store, hold(400))).rejects.toMatchObject({ status: 413 });
  });

  it("are replaced by the items", async () => {
    const { store, output } = await storeWithAnswer();
    const references = output.map(({ id }) => ({ type: "item_reference", id }));
    expect(await resolveReferences(["hi", ...references], store, hold())).toEqual(["hi", ...output]);
  });

  it("are unchanged if the item was created elsewhere", async () => {
    const { store } = await storeWithAnswer();
    const foreign = { type: "item_reference", id: "msg_68af4030592c81938ec0a5fbab4a3e9f" };
    expect(await resolveReferences([foreign], store, hold())).toEqual([foreign]);
  });

  it("are refused if their response has no such item", async () => {
    const { store } = await storeWithAnswer();
    for (const id of [createItemId("msg", RESPONSE_ID, 99), createInputItemId("message", RESPONSE_ID, 0)]) {
      const reference = { type: "item_reference", id };
      await expect(resolveReferences(["hi", reference], store, hold())).rejects.toMatchObject({
        status: 404,
        code: "response_not_found",
        param: "input[1].id",
      });
    }
  });

  it("are refused if the response was deleted", async () => {
    const { store } = await storeWithAnswer();
    const gone = { type: "item_reference", id: createItemId("msg", `resp_${"f".repeat(24)}`, 0) };
    await expect(resolveReferences(["hi", gone], store, hold())).rejects.toMatchObject({
      status: 404,
      code: "response_not_found",
      param: "input[1].id",
    });
    await expect(readPreviousResponse(store, "resp_gone")).rejects.toMatchObject({
      status: 400,
      code: "previous_response_not_found",
      param: "previous_response_id",
    });
  });
});
