import type { Config } from "../../core/config/schema.ts";
import { oncePer } from "../../core/encoding/once.ts";
import { RecentMap } from "../../core/encoding/recent-map.ts";
import { findNode, hashText } from "../../core/encoding/text-hash.ts";
import type { AccountSelection } from "../../core/ports/accounts.ts";
import type { Platform } from "../../core/ports/platform.ts";
import type { PoolAccount } from "../../core/ports/pool-configuration.ts";
import { buildPoolConfiguration } from "../../pool/configuration.ts";
import { CONVERSATION_TTL_MS } from "../../pool/selection/conversation-affinity.ts";
import { createPoolDeployment } from "../providers/pool-deployment.ts";
import type { RegisteredProvider } from "../providers/provider-registry.ts";

/** Most conversations that an isolate remembers. */
const MAX_CONVERSATIONS = 10_000;

/** What the selection of an account must know of a conversation: the turn that `identifyTurn` returns. */
export interface SelectableTurn {
  readonly key: string;
  readonly isContinued: boolean;
}

/**
 * The accounts that this isolate's conversations had last, by provider and conversation. The pool forgets them when it
 * restarts.
 */
const getLastAccounts = oncePer(
  (_: Platform) => new RecentMap<string>(MAX_CONVERSATIONS, CONVERSATION_TTL_MS),
);

/** How the pool selects the account of a request. Undefined: the accounts take turns. */
export async function createSelection(
  platform: Platform,
  config: Config,
  { id, strategy, affinityWaitMs }: RegisteredProvider,
  turn: SelectableTurn | undefined,
): Promise<AccountSelection | undefined> {
  if (strategy === "round_robin" || (strategy === "affinity" && turn === undefined)) return undefined;
  if (strategy !== "affinity" || turn === undefined) return { strategy };
  const { key, isContinued } = turn;
  const lastAccount =
    getLastAccounts(platform).get(`${id} ${key}`, platform.now()) ??
    (await findFirstAccount(platform, config, id, key));
  return {
    strategy,
    conversation: key,
    ...(isContinued && affinityWaitMs > 0 ? { waitMs: affinityWaitMs } : {}),
    ...(lastAccount === undefined ? {} : { lastAccount }),
  };
}

/** Remembers the account that a request got, for the next turn of its conversation. */
export function rememberAccount(
  platform: Platform,
  provider: string,
  { conversation }: AccountSelection,
  account: string,
): void {
  if (conversation === undefined) return;
  getLastAccounts(platform).set(`${provider} ${conversation}`, account, platform.now());
}

const listPoolAccounts = oncePer(
  async (config: Config, { variables }: Platform): Promise<readonly PoolAccount[]> =>
    (await buildPoolConfiguration(config, createPoolDeployment(variables))).accounts,
);

/**
 * The account of a conversation that this isolate has not seen. With several shards, the request begins at the shard of
 * this account, which computes the same account. Undefined: there is one pool, which computes it itself.
 */
async function findFirstAccount(
  platform: Platform,
  config: Config,
  provider: string,
  conversation: string,
): Promise<string | undefined> {
  if (platform.variables.poolShards === 1) return undefined;
  const candidates = (await listPoolAccounts(config, platform)).filter(
    (account) => (account.provider ?? "") === provider && account.disabled !== true,
  );
  const first = findNode(
    conversation,
    candidates,
    ({ id }) => hashText(id),
    ({ weight = 1 }) => weight,
  );
  return first?.id;
}
