import * as z from "zod/mini";
import { ApiError, errorMessage } from "../api/client.ts";
import { texts } from "./texts.ts";

const limitState = z.nullable(
  z.object({
    limit: z.number(),
    used: z.number(),
    remaining: z.number(),
    resets_at: z.nullable(z.string()),
  }),
);

const sums = z.object({ requests: z.number(), total_tokens: z.number(), cost: z.number() });

const ownKey = z.object({
  id: z.string(),
  name: z.string(),
  expires_at: z.nullable(z.string()),
  limits: z.record(z.string(), limitState),
  usage: z.object({ today: sums, this_month: sums }),
  models: z.array(z.string()),
  styles: z.array(z.string()),
  networks: z.array(z.string()),
  available_models: z.array(z.string()),
});

/** The answer of `GET /v1/key`. */
export type OwnKey = z.output<typeof ownKey>;

/** Characters that a header can hold: others cannot be in a key. */
const HEADER_VALUE = /^[\x20-\x7e]+$/;

/**
 * Reads limits and use of a key with the key itself.
 *
 * @throws ApiError with a message for the user.
 */
export async function readOwnKey(key: string): Promise<OwnKey> {
  const credential = key.trim();
  if (!HEADER_VALUE.test(credential)) throw new ApiError(401, texts.invalidKey);
  let response: Response;
  try {
    response = await fetch("/v1/key", { headers: { authorization: `Bearer ${credential}` } });
  } catch {
    throw new ApiError(0, texts.noAnswer);
  }
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, errorMessage(body, response.status));
  const parsed = ownKey.safeParse(body);
  if (!parsed.success) throw new ApiError(response.status, texts.unreadableAnswer);
  return parsed.data;
}
