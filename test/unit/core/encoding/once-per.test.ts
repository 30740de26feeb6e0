import { describe, expect, it } from "vitest";
import { oncePer } from "../../../../src/core/encoding/once-per.ts";

describe("a value that is created once for each object", () => {
  it("is the same for the same object, and another for another object", () => {
    let created = 0;
    const getNumber = oncePer((_: object) => {
      created += 1;
      return created;
    });
    const [first, second] = [{}, {}];
    expect([getNumber(first), getNumber(second), getNumber(first), getNumber(second)]).toEqual([1, 2, 1, 2]);
  });

  it("is created anew after an error or a rejected promise", async () => {
    const outcomes = [new Error("first"), Promise.reject(new Error("second")), Promise.resolve("third")];
    const get = oncePer((_: object): Promise<unknown> => {
      const outcome = outcomes.shift();
      if (outcome instanceof Error) throw outcome;
      return outcome ?? Promise.reject(new Error("no more"));
    });
    const key = {};
    expect(() => get(key)).toThrow("first");
    await expect(get(key)).rejects.toThrow("second");
    await expect(get(key)).resolves.toBe("third");
    await expect(get(key)).resolves.toBe("third");
  });
});
