import { expect, it } from "vitest";
import { AwaitedWork } from "../../../../src/pages/browser/awaited-work.ts";

/** Starts that never end until their callers have left, and how many there were. */
function starter() {
  const starts: AbortSignal[] = [];
  const start = (unneeded: AbortSignal): Promise<string> => {
    starts.push(unneeded);
    return new Promise((_, reject) => {
      unneeded.addEventListener("abort", () => reject(new Error("left")));
    });
  };
  return { starts, start };
}

it("continues work until the last caller has left, and then makes room for new work", async () => {
  const work = new AwaitedWork<string>();
  const { starts, start } = starter();
  const [one, two] = [new AbortController(), new AbortController()];
  const both = [work.join("a", one.signal, start), work.join("a", two.signal, start)];
  const left = Promise.allSettled(both);
  one.abort();
  expect(starts.map(({ aborted }) => aborted)).toEqual([false]);
  two.abort();
  const third = work.join("a", undefined, async () => "new");
  expect(starts.map(({ aborted }) => aborted)).toEqual([true]);
  expect((await left).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await third).toBe("new");
});

it("continues work for a caller that cannot leave", async () => {
  const work = new AwaitedWork<string>();
  const { starts, start } = starter();
  const leaving = new AbortController();
  void work.join("a", undefined, start);
  const leaver = work.join("a", leaving.signal, start);
  void leaver.catch(() => undefined);
  leaving.abort();
  expect(starts.map(({ aborted }) => aborted)).toEqual([false]);
});

it("starts no work for a caller that has left", async () => {
  const work = new AwaitedWork<string>();
  const { starts, start } = starter();
  await expect(work.join("a", AbortSignal.abort(), start)).rejects.toMatchObject({ status: 499 });
  expect(starts).toEqual([]);
});
