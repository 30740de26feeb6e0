import { setTimeout as sleep } from "node:timers/promises";
import { toUtf8 } from "../../src/core/encoding/bytes.ts";
import type { Gateway } from "./gateway.ts";
import { DEV_KEY } from "./use-gateway.ts";

const MIB = 1024 * 1024;
/** Maximum memory that unauthenticated clients may cause. */
export const MOST_MEMORY = 600 * MIB;

/** Status of a response, and the allowed statuses. */
export interface AttackResult {
  /** 0: the connection was closed. */
  readonly status: number;
  readonly allowed: readonly number[];
}

/** Requests that try to make a process use much memory. */
export interface MemoryAttack {
  readonly name: string;
  readonly run: (gateway: Pick<Gateway, "fetch">) => Promise<readonly AttackResult[]>;
  /** Additional bytes that are allowed for a managed key, on a busy machine that collects garbage late. */
  readonly own: number;
}

/** JSON of this many bytes, made of the values with the largest memory use per byte. */
function costly(bytes: number, start = '{"model":"gpt-4o","messages":['): string {
  const end = "{}]}";
  return `${start}${"{},".repeat(Math.floor((bytes - start.length - end.length) / 3))}${end}`;
}

const chat = (content: unknown, model = "gpt-4o") =>
  JSON.stringify({ model, messages: [{ role: "user", content }] });

async function post(
  gateway: Pick<Gateway, "fetch">,
  path: string,
  body: string,
  allowed: readonly number[],
  key?: string,
): Promise<AttackResult> {
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const headers = { "content-type": "application/json", ...authorization };
  try {
    const response = await gateway.fetch(path, { method: "POST", headers, body });
    await response.body?.cancel();
    return { status: response.status, allowed };
  } catch {
    return { status: 0, allowed };
  }
}

/** `count` unauthenticated clients that post the same at once. */
const strangers = (
  count: number,
  gateway: Pick<Gateway, "fetch">,
  path: string,
  body: string,
  allowed: readonly number[],
) => Array.from({ length: count }, (_, n) => post(gateway, path, body, allowed, `made-up-${n}`));

/** The beginning of a form, with a few bytes of its file in each of `count` pieces: Deno reads each into 64 KiB. */
function createPiecemealForm(count: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let sent = 0;
  return new ReadableStream({
    start: (controller) =>
      controller.enqueue(
        toUtf8('--x\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'),
      ),
    pull: async (controller) => {
      await sleep(1);
      sent += 1;
      if (sent <= count) controller.enqueue(toUtf8("sound"));
      else controller.close();
    },
  });
}

/** Attacks on a process's memory, run one after the other. */
export const MEMORY_ATTACKS: readonly MemoryAttack[] = [
  {
    name: "eight bodies of 31 MiB from strangers",
    own: 0,
    run: (gateway) =>
      Promise.all(strangers(8, gateway, "/v1/chat/completions", costly(31 * MIB), [413, 503])),
  },
  {
    name: "31 MiB at the sign-in, which are not looked at",
    own: 0,
    run: async (gateway) => [
      await post(gateway, "/admin/login", costly(31 * MIB, '{"admin_key":"x","y":['), [413]),
    ],
  },
  {
    name: "hundreds of short bodies at once",
    own: 0,
    run: (gateway) =>
      Promise.all(strangers(300, gateway, "/v1/messages", costly(64 * 1024 - 10), [400, 503])),
  },
  {
    name: "forms in tiny pieces, which are held because their model may follow",
    own: 0,
    run: (gateway) => {
      const post = async (n: number) => {
        const init: RequestInit & { duplex: "half" } = {
          method: "POST",
          headers: {
            "content-type": "multipart/form-data; boundary=x",
            authorization: `Bearer made-up-${n}`,
          },
          body: createPiecemealForm(3_000),
          duplex: "half",
        };
        const response = await gateway.fetch("/v1/audio/transcriptions", init);
        await response.body?.cancel();
        return { status: response.status, allowed: [400] };
      };
      return Promise.all(Array.from({ length: 6 }, (_, n) => post(n)));
    },
  },
  {
    name: "long texts from strangers, who do not keep a managed key from its own",
    // The key's own 30 MiB in all their forms, some of which a busy machine collects late: measured up to 150 MiB.
    own: 200 * MIB,
    run: (gateway) => {
      const path = "/v1/chat/completions";
      const wide = strangers(8, gateway, path, chat("é".repeat(9 * MIB)), [401, 503]);
      const image = `data:image/png;base64,${"A".repeat(30 * MIB)}`;
      const parts = [{ type: "image_url", image_url: { url: image } }];
      const own = post(gateway, path, chat(parts, "provider-v4-vision"), [200], DEV_KEY);
      return Promise.all([own, ...wide]);
    },
  },
];
