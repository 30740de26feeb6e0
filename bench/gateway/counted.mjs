// Entry of a gateway whose calls into the runtime are counted. `GET /__counts` returns the counts and resets them.
import { began, countObject, take } from "./counting.mjs";
import gateway, { History as Archive, AccountPool as Pool } from "./worker.js";

export * from "./worker.js";

export class AccountPool extends Pool {
  constructor(ctx, env) {
    countObject(ctx);
    super(ctx, env);
  }
}

export class History extends Archive {
  constructor(ctx, env) {
    countObject(ctx);
    super(ctx, env);
  }
}

export default {
  ...gateway,
  fetch(request, env, ctx) {
    if (request.url.endsWith("/__counts")) return new Response(JSON.stringify(take()));
    began(env, ctx);
    return gateway.fetch(request, env, ctx);
  },
};
