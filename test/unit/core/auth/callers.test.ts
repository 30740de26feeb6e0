import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { issueToken } from "../../../../src/core/auth/admin-token.ts";
import { authenticateCaller } from "../../../../src/core/auth/callers.ts";
import { sha256Hex } from "../../../../src/core/encoding/hash.ts";
import { DIALECTS } from "../../../../src/gateway/dialects/index.ts";
import { SMALL_CHAT, SMALL_REQUESTS, type SmallRequest } from "../../../support/dialect-requests.ts";
import {
  type MemoryGateway,
  pass,
  START_OF_TIME,
  useMemoryGateway,
} from "../../../support/memory-gateway.ts";
import { KEY } from "../../../support/memory-platform.ts";

const createGateway = useMemoryGateway();

const REQUESTS = Object.entries(SMALL_REQUESTS);
const OWN = "a-token-of-the-provider";

/** Where a request carries credentials. */
interface Carried {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: string;
}

/** Every place for a credential, in the order in which they count (docs/contract/keys.md, Authentication). */
const PLACES: [string, (credential: string) => Carried][] = [
  ["Authorization: Bearer", (credential) => ({ headers: { authorization: `Bearer ${credential}` } })],
  ["x-api-key", (credential) => ({ headers: { "x-api-key": credential } })],
  ["x-vendorc-api-key", (credential) => ({ headers: { "x-vendorc-api-key": credential } })],
  ["x-goog-api-key", (credential) => ({ headers: { "x-goog-api-key": credential } })],
  ["?key", (credential) => ({ query: `key=${credential}` })],
  ["?api_key", (credential) => ({ query: `api_key=${credential}` })],
];

async function ask(
  gateway: MemoryGateway,
  { path, body }: SmallRequest,
  ...carried: readonly Carried[]
): Promise<number> {
  const query = carried.flatMap((one) => one.query ?? []).join("&");
  const headers = Object.assign({ "content-type": "application/json" }, ...carried.map((one) => one.headers));
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  const response = await gateway.request(query === "" ? path : `${path}?${query}`, init);
  await response.text();
  return response.status;
}

/** On whose behalf the provider was asked for an answer. */
const tokens = ({ turns }: MemoryGateway): string[] => turns.map(({ token }) => token);

setFlagsFromString("--expose-gc");
const collectGarbage: () => void = runInNewContext("gc");

test("unknown credentials do not grow the memory of checked ones", async () => {
  const gateway = await createGateway();
  const context = (init: RequestInit, query = "") => {
    const { platform, config, lookUpConfig } = gateway.context();
    const request = new Request(`http://gateway.test/${query}`, init);
    return { platform, config, lookUpConfig, request, url: new URL(request.url) };
  };
  const sources = [{ in: "bearer" as const }, { in: "query" as const, name: "key" }];
  const send = async (round: string) => {
    for (let n = 0; n < 250; n += 1) {
      const padded = { headers: { authorization: `Bearer ${" ".repeat(15_000)}${round}${n}` } };
      await authenticateCaller(context(padded), sources);
      await authenticateCaller(context({}, `?key=${round}${n}${"x".repeat(15_000)}`), sources);
    }
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  const before = await send("a");
  expect((await send("b")) - before).toBeLessThan(3_000_000);
});

test("each API style has a request in this test", () => {
  expect(REQUESTS.map(([id]) => id).toSorted()).toEqual(DIALECTS.map(({ id }) => id).toSorted());
});

describe.each(REQUESTS)("the %s style", (_, request) => {
  test.each(PLACES)("accepts a configured key in %s, and uses an account", async (_place, place) => {
    const gateway = await createGateway();
    expect(await ask(gateway, request, place(KEY))).toBe(200);
    expect(tokens(gateway)).toEqual(["one@test#1"]);
  });

  test.each(PLACES)("accepts a provider's token in %s, and uses it", async (_place, place) => {
    const gateway = await createGateway();
    expect(await ask(gateway, request, place(OWN))).toBe(200);
    expect(tokens(gateway)).toEqual([OWN]);
  });

  test("refuses a caller without either", async () => {
    const gateway = await createGateway();
    expect(await ask(gateway, request)).toBe(401);
    expect(gateway.upstream.asked).toEqual([]);
  });
});

describe("of several credentials", () => {
  const pairs = PLACES.flatMap((first, index) =>
    PLACES.slice(index + 1).map((second): [string, (typeof first)[1], (typeof first)[1]] => [
      `${first[0]} and ${second[0]}`,
      first[1],
      second[1],
    ]),
  );

  test.each(pairs)("the configured key counts, wherever it is: %s", async (_, first, second) => {
    const gateway = await createGateway();
    expect(await ask(gateway, SMALL_CHAT, first(OWN), second(KEY))).toBe(200);
    expect(await ask(gateway, SMALL_CHAT, first(KEY), second(OWN))).toBe(200);
    expect(tokens(gateway)).toEqual(["one@test#1", "two@test#2"]);
  });

  test.each(pairs)("the first one counts if none is a configured key: %s", async (_, first, second) => {
    const gateway = await createGateway();
    await ask(gateway, SMALL_CHAT, second("second"), first("first"));
    expect(tokens(gateway)).toEqual(["first"]);
  });

  test("empty ones are ignored", async () => {
    const gateway = await createGateway();
    const headers = { authorization: "Bearer  ", "x-api-key": " " };
    expect(await ask(gateway, SMALL_CHAT, { headers, query: "key=" })).toBe(401);
    await ask(gateway, SMALL_CHAT, { headers, query: `key=&api_key=${OWN}` });
    expect(tokens(gateway)).toEqual([OWN]);
  });
});

describe("a credential", () => {
  test.each([`bearer ${KEY}`, `BEARER   ${KEY}  `])("may be written as %j", async (authorization) => {
    const gateway = await createGateway();
    await ask(gateway, SMALL_CHAT, { headers: { authorization } });
    expect(tokens(gateway)).toEqual(["one@test#1"]);
  });

  test.each([KEY, `Basic ${KEY}`, `Bearer${KEY}`])(
    "may not be written as Authorization: %s",
    async (authorization) => {
      const gateway = await createGateway();
      expect(await ask(gateway, SMALL_CHAT, { headers: { authorization } })).toBe(401);
    },
  );

  test.each([
    ["keys", { keys: ["sk-a"], api_keys: [] }],
    ["api_keys", { keys: [], api_keys: [{ key: "sk-a" }] }],
  ])("may be configured in %s", async (_, config) => {
    const gateway = await createGateway({ config });
    await ask(gateway, SMALL_CHAT, { headers: { authorization: "Bearer sk-a" } });
    expect(tokens(gateway)).toEqual(["one@test#1"]);
  });

  test("is compared as a whole", async () => {
    const gateway = await createGateway();
    for (const near of [`${KEY}x`, KEY.slice(0, -1), KEY.toUpperCase()]) {
      await ask(gateway, SMALL_CHAT, { headers: { authorization: `Bearer ${near}` } });
    }
    expect(tokens(gateway)).toEqual([`${KEY}x`, KEY.slice(0, -1), KEY.toUpperCase()]);
  });

  test("stops being a key at once in the isolate that removes it", async () => {
    const gateway = await createGateway();
    await gateway.platform.configuration.update((config) => ({ ...config, keys: ["another"] }));
    await ask(gateway, SMALL_CHAT, { headers: { authorization: `Bearer ${KEY}` } });
    await ask(gateway, SMALL_CHAT, { headers: { authorization: "Bearer another" } });
    expect(tokens(gateway)).toEqual([KEY, "one@test#1"]);
  });
});

describe("a credential for something else", () => {
  const ADMIN_KEY = "an-administrators-key";
  const HOSTING = "a-hosting-token-0123";

  async function gateway() {
    return createGateway({
      env: { ADMIN_KEY, VERCEL_TOKEN: HOSTING },
      config: { vercel: { token: `saved-${HOSTING}`, project_id: "", team_id: "" } },
    });
  }

  test.each([
    ["the admin key", ADMIN_KEY],
    ["the hosting token", HOSTING],
    ["the saved hosting token", `saved-${HOSTING}`],
  ])("is refused and never reaches the provider: %s", async (_, secret) => {
    const running = await gateway();
    for (const [, place] of PLACES) expect(await ask(running, SMALL_CHAT, place(secret))).toBe(401);
    expect(running.upstream.asked).toEqual([]);
  });

  test("is refused if it is an administrator's token, while another program's token goes to the provider", async () => {
    const running = await gateway();
    const token = await issueToken("any secret", Date.now(), 60, { id: null, epoch: "" });
    expect(await ask(running, SMALL_CHAT, { headers: { authorization: `Bearer ${token}` } })).toBe(401);
    expect(running.upstream.asked).toEqual([]);
    const foreign = `eyJhbGciOiJIUzI1NiJ9.${Buffer.from('{"iss":"provider"}').toString("base64url")}.AAAA`;
    await ask(running, SMALL_CHAT, { headers: { authorization: `Bearer ${foreign}` } });
    expect(tokens(running)).toEqual([foreign]);
  });
});

describe("the header that pins an account", () => {
  const pinned = (target: string, credential: string): Carried => ({
    headers: { authorization: `Bearer ${credential}`, "x-gateway-target-account": target },
  });

  test("selects the account for a configured key", async () => {
    const gateway = await createGateway();
    for (let times = 0; times < 2; times += 1) await ask(gateway, SMALL_CHAT, pinned(" two@test ", KEY));
    expect(tokens(gateway)).toEqual(["two@test#1", "two@test#1"]);
  });

  test("has no effect if it is empty", async () => {
    const gateway = await createGateway();
    for (let times = 0; times < 2; times += 1) await ask(gateway, SMALL_CHAT, pinned("", KEY));
    expect(tokens(gateway)).toEqual(["one@test#1", "two@test#2"]);
  });

  test("has no effect for a provider's token", async () => {
    const gateway = await createGateway();
    expect(await ask(gateway, SMALL_CHAT, pinned("nobody", OWN))).toBe(200);
    expect(tokens(gateway)).toEqual([OWN]);
  });

  test("is a 429 without Retry-After for an account that does not exist", async () => {
    const gateway = await createGateway();
    const headers = { "x-gateway-target-account": "nobody" };
    const response = await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body, { headers });
    expect(response.status).toBe(429);
    expect(response.headers.get("retry-after")).toBeNull();
    expect(await response.json()).toMatchObject({ error: { code: "target_account_not_found" } });
    await pass(1);
    expect(gateway.upstream.asked).toEqual([]);
  });
});

describe("a configured key", () => {
  const OLD = "sk-before-the-rotation";
  const HASHED = "sk-only-its-digest-is-kept";

  const withKey = (entry: object, more: object = {}) =>
    createGateway({ config: { keys: [], api_keys: [{ key: KEY, ...entry }], ...more } });
  const bearer = (key: string): Carried => ({ headers: { authorization: `Bearer ${key}` } });
  const messageOf = async (gateway: MemoryGateway, key: string): Promise<unknown> => {
    const init = { headers: { authorization: `Bearer ${key}` } };
    const response = await gateway.post(SMALL_CHAT.path, SMALL_CHAT.body, init);
    expect(response.status).toBe(401);
    const body: { error: { code: string; message: string } } = await response.json();
    expect(body.error.code).toBe("invalid_api_key");
    return body.error.message;
  };

  test.each([
    ["that is disabled", { disabled: true }, "this API key is disabled"],
    [
      "that has expired",
      { expires: START_OF_TIME - 1 },
      `expired at ${new Date(START_OF_TIME - 1).toISOString()}`,
    ],
  ])("is refused and never reaches the provider: %s", async (_, entry, reason) => {
    const gateway = await withKey(entry);
    expect(await messageOf(gateway, KEY)).toContain(reason);
    const both = { headers: { authorization: `Bearer ${OWN}`, "x-api-key": KEY } };
    expect(await ask(gateway, SMALL_CHAT, both)).toBe(401);
    expect(gateway.upstream.asked).toEqual([]);
  });

  test("is disabled by its entry, even if the plain list has it, too", async () => {
    const gateway = await createGateway({
      config: { keys: [KEY], api_keys: [{ key: KEY, disabled: true }] },
    });
    expect(await ask(gateway, SMALL_CHAT, bearer(KEY))).toBe(401);
  });

  test("does not lock out a caller who also sends a valid key", async () => {
    const gateway = await createGateway({
      config: { keys: [KEY], api_keys: [{ key: "sk-off", disabled: true }] },
    });
    const both = { headers: { authorization: "Bearer sk-off", "x-api-key": KEY } };
    expect(await ask(gateway, SMALL_CHAT, both)).toBe(200);
  });

  test("works until it expires", async () => {
    const gateway = await withKey({ expires: START_OF_TIME + 60_000 });
    expect(await ask(gateway, SMALL_CHAT, bearer(KEY))).toBe(200);
    await pass(60_000);
    expect(await ask(gateway, SMALL_CHAT, bearer(KEY))).toBe(401);
  });

  test("works after its rotation until the grace period ends, and then is refused", async () => {
    const digest = await sha256Hex(OLD);
    const gateway = await withKey({ previous: [{ digest, until: START_OF_TIME + 60_000 }] });
    expect(await ask(gateway, SMALL_CHAT, bearer(OLD))).toBe(200);
    await pass(60_000);
    expect(await messageOf(gateway, OLD)).toContain("replaced by a new one");
    expect(await ask(gateway, SMALL_CHAT, bearer(KEY))).toBe(200);
    expect(tokens(gateway)).not.toContain(OLD);
  });

  test("works if only its digest is stored", async () => {
    const digest = await sha256Hex(HASHED);
    const gateway = await createGateway({ config: { keys: [], api_keys: [{ digest, last4: "kept" }] } });
    expect(await ask(gateway, SMALL_CHAT, bearer(HASHED))).toBe(200);
    expect(await ask(gateway, SMALL_CHAT, bearer(digest))).toBe(200);
    expect(tokens(gateway)).toEqual(["one@test#1", digest]);
  });

  test("keeps its id and its caller's objects when it is rotated", async () => {
    const digest = await sha256Hex(OLD);
    const id = `key_${digest.slice(0, 16)}`;
    const caller = async (key: string, entry: object) => {
      const gateway = await createGateway({ config: { keys: [], api_keys: [entry] } });
      const { platform, config, lookUpConfig } = gateway.context();
      const request = new Request("http://gateway.test/", { headers: { authorization: `Bearer ${key}` } });
      const sources = [{ in: "bearer" as const }];
      return authenticateCaller(
        { platform, config, lookUpConfig, request, url: new URL(request.url) },
        sources,
      );
    };
    const before = await caller(OLD, { key: OLD, name: "mine" });
    expect(before).toMatchObject({ owner: digest, key: { id, name: "mine" } });
    const rotated = { key: KEY, id, owner: digest, previous: [{ digest, until: START_OF_TIME + 60_000 }] };
    for (const key of [OLD, KEY]) {
      expect(await caller(key, rotated)).toMatchObject({ owner: digest, key: { id, entry: rotated } });
    }
    expect((await caller(OWN, rotated)).key).toBeNull();
  });

  test("is the only credential that is accepted where unknown keys are refused", async () => {
    const gateway = await withKey({}, { callers: { unknown_keys: "refuse" } });
    expect(await messageOf(gateway, OWN)).toContain("not known");
    expect(await ask(gateway, SMALL_CHAT, bearer(KEY))).toBe(200);
    expect(tokens(gateway)).toEqual(["one@test#1"]);
  });
});
