import type { Handler } from "../platform/context.ts";

/** `GET /admin/queue/status` (contract, Queue status), with the live leases, the cooldowns and who waits. */
export const queueStatus: Handler = async ({ platform }) => Response.json(await platform.accounts.status());
