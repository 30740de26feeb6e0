import { expect, it } from "vitest";
import { KeyCheckCache, type KeyVerdict } from "../../../../src/core/auth/key-check-cache.ts";

it("valid keys are remembered for a minute, and only the latest thousand", async () => {
  const checks = new KeyCheckCache();
  const asked: string[] = [];
  const ask = (client: string, now: number) =>
    checks.check(client, "key", now, async () => {
      asked.push(client);
      return { right: true };
    });
  await ask("a", 0);
  await ask("a", 59_999);
  expect(asked.splice(0)).toEqual(["a"]);
  await ask("a", 60_000);
  expect(asked.splice(0)).toEqual(["a"]);
  for (let n = 0; n < 1_000; n += 1) await ask(`b${n}`, 60_000);
  asked.length = 0;
  await ask("b1", 60_000);
  await ask("a", 60_000);
  expect(asked).toEqual(["a"]);
});

it("a pause after wrong keys also applies to remembered keys, for the latest thousand addresses", async () => {
  const checks = new KeyCheckCache();
  const right = async () => ({ right: true });
  const paused = async () => ({ waitSeconds: 60 });
  const ask = (client: string, credential: string, check: () => Promise<KeyVerdict>) =>
    checks.check(client, credential, 0, check);
  await ask("a", "key", right);
  await ask("a", "guess", paused);
  expect(await ask("a", "key", right)).toEqual({ waitSeconds: 60 });
  for (let n = 0; n < 999; n += 1) await ask(`b${n}`, "guess", paused);
  expect(await ask("a", "key", right)).toEqual({ waitSeconds: 60 });
  await ask("c", "guess", paused);
  expect(await ask("a", "key", right)).toEqual({ right: true });
});
