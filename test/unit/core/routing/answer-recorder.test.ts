import { describe, expect, it } from "vitest";
import { MemoryBudget, MemoryReservation } from "../../../../src/core/http/memory-budget.ts";
import { type RecordedAnswer, recordAnswer } from "../../../../src/core/routing/answer-recorder.ts";

const MIB = 1024 * 1024;

/** Records a whole answer of that many bytes, sent in pieces, within a memory budget. */
async function record(size: number, budget: number) {
  const settled: (RecordedAnswer | null)[] = [];
  const unused = () => {
    throw new Error("a whole answer does not wait");
  };
  const memory = new MemoryReservation(new MemoryBudget(budget));
  memory.markKnown();
  let left = size;
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      const piece = new Uint8Array(Math.min(left, 64 * 1024)).fill(7);
      left -= piece.byteLength;
      if (piece.byteLength > 0) controller.enqueue(piece);
      if (left === 0) controller.close();
    },
  });
  const response = await recordAnswer(
    { memory, keepUntil: unused, waitUntil: unused },
    new Response(stream, { headers: { "content-type": "application/json" } }),
    { sending: undefined, onDeparture: "end", settle: async (answer) => void settled.push(answer) },
  );
  const heldBytes = size - left;
  const received = await response.arrayBuffer();
  return { settled, heldBytes, received: received.byteLength, type: response.headers.get("content-type") };
}

describe("a recorded answer", () => {
  it("reaches the client and the record", async () => {
    const { settled, received, type } = await record(MIB, 8 * MIB);
    expect(settled.map((answer) => answer?.body.byteLength)).toEqual([MIB]);
    expect([received, type]).toEqual([MIB, "application/json"]);
  });

  it.each([
    ["is longer than 4 MiB", 40 * MIB, 64 * MIB],
    ["has no room in the memory budget", 40 * MIB, 2 * MIB],
  ])("reaches only the client, and is not held in memory, if it %s", async (_, size, budget) => {
    const { settled, received, heldBytes } = await record(size, budget);
    expect(settled).toEqual([null]);
    expect(received).toBe(size);
    expect(heldBytes).toBeLessThan(5 * MIB);
  });
});
