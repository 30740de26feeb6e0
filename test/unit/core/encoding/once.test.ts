import { describe, expect, it, vi } from "vitest";
import { once, oncePer } from "../../../../src/core/encoding/once.ts";

it("creates a value once, at the first call", () => {
  const make = vi.fn(() => undefined);
  const value = once(make);
  expect(make).not.toHaveBeenCalled();
  expect([value(), value()]).toEqual([undefined, undefined]);
  expect(make).toHaveBeenCalledTimes(1);
});

it("creates a value again after a failure", async () => {
  const make = vi.fn(async () => "made");
  make.mockRejectedValueOnce(new Error("not there"));
  const value = once(make);
  const [first, beside] = [value(), value()];
  await expect(first).rejects.toThrow("not there");
  await expect(beside).rejects.toThrow("not there");
  expect(make).toHaveBeenCalledTimes(1);
  expect(await value()).toBe("made");
  expect(await value()).toBe("made");
  expect(make).toHaveBeenCalledTimes(2);
});

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
