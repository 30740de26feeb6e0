import { describe, expect, it } from "vitest";
import type { Message } from "../../../../../src/core/conversation/conversation.ts";
import { assistant, call, result } from "../support.ts";
import { request, user } from "./fake.ts";

/** What only this protocol has. What every driver must send is tested in `../requests.test.ts`. */
describe("items", () => {
  const sent = async (...messages: Message[]) => (await request({ messages }))["input"];

  it("are at least one", async () => {
    expect(await sent(user(""))).toEqual([{ type: "message", role: "user", content: "Begin." }]);
  });

  it("give each call its own short id", async () => {
    const long = "x".repeat(80);
    const round = [assistant("", call(long)), result(long, "1")];
    const input = Object(await sent(user("x"), ...round, ...round));
    const ids: string[] = input.slice(1).map(({ call_id: id }: { call_id: string }) => id);
    expect([ids[0], ids[2]]).toEqual([ids[1], ids[3]]);
    expect(new Set(ids).size).toBe(2);
    expect(Math.max(...ids.map(({ length }) => length))).toBeLessThanOrEqual(64);
  });
});
